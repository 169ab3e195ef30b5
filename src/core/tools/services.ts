// What all conversations of a window share: the ports, and the background commands, which core itself keeps.
import { type Disposable } from '../../base/disposable.ts';
import { type CountedUsage } from '../conversation/projections/usage.ts';
import { type Ports } from '../ports/ports.ts';
import { type Handles } from './handles.ts';

export interface Services extends Ports {
  /** Absent: no commands can be run. */
  readonly handles?: Handles;
  /** Disposed of with Earshot. Absent: there are no subagents. */
  readonly subagents?: Disposable & {
    /** What counts against the limits of a subagent: the usage of the conversation that it works for. Undefined: its own. */
    usageFor(conversation: string): CountedUsage | undefined;
  };
}
