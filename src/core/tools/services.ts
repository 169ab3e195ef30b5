// What all conversations of a window share: the ports, and the background commands, which core itself manages.
import { type Disposable } from '../../base/disposable.ts';
import { type CountedUsage } from '../conversation/projections/usage.ts';
import { type Ports } from '../ports/ports.ts';
import { type Handles } from './handles.ts';

export interface Services extends Ports {
  /** Absent: no commands can be run. */
  readonly handles?: Handles;
  /** Disposed of together with Earshot. Absent: there are no subagents. */
  readonly subagents?: Disposable & {
    /**
     * The usage that counts against the limits of a subagent: that of the conversation it works for. Undefined: its own
     * usage.
     */
    usageFor(conversation: string): CountedUsage | undefined;
    /** The tokens of running requests for the same root, which `usageFor` does not count yet. */
    tokensUnderWay(conversation: string): number;
    /** Counts a request as under way until the result is disposed. */
    begin(conversation: string, tokens: number): Disposable;
  };
}
