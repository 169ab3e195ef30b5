// What all conversations of a window share: the ports, and what core itself manages: background commands and subagents.
import { type Disposable } from '../../base/disposable.ts';
import { type ConversationChange } from '../conversation/liveConversation.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type CountedUsage } from '../conversation/projections/usage.ts';
import { type Ports } from '../ports/ports.ts';
import { type Handles } from './handles.ts';

export interface Services extends Ports {
  readonly handles: Handles;
  /** Follows timers and conditions until the result is disposed of. */
  readonly wakes: { join(log: ConversationLog, options?: { readonly isIndexed?: boolean }): Disposable };
  readonly subagents: {
    /**
     * The usage that counts against the limits of a subagent: that of the conversation it works for. Undefined: its own
     * usage.
     */
    usageFor(conversation: string): CountedUsage | undefined;
    /** The tokens of running requests for the same root, which `usageFor` does not count yet. */
    tokensUnderWay(conversation: string): number;
    /** Counts a request as under way until the result is disposed. */
    begin(conversation: string, tokens: number): Disposable;
    /** Called with every change of a live conversation. */
    changed(change: ConversationChange): void;
    /** Called when a conversation has become live or is no longer live. */
    liveChanged(conversation: string): void;
  };
}
