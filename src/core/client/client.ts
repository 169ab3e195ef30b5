// A client of conversations: what a front end needs to show and drive them, in this process (`localClient.ts`) or through
// a connection to a window (`remoteClient.ts`).
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type Result } from '../../base/errors.ts';
import { type Verb, type VerbParams, type VerbResult } from '../../protocol/client/verbs.ts';
import { type EventOf, type LogEvent } from '../../protocol/event.ts';
import { type HandleView } from '../../protocol/page/handlesView.ts';
import { type HeldReason } from '../../protocol/webview.ts';
import { type Folded, type Projections } from '../conversation/projections/project.ts';
import { type PartialAnswer } from '../ports/ports.ts';
import { type OpenRequest, type RequestChange, type RequestsClient } from './requests.ts';

/** Changes outside the log. */
export interface FollowedStatus {
  readonly running: boolean;
  /** False: another window writes it. */
  readonly owned: boolean;
  /** Why a pending notification that would wake or interrupt the model is held back. */
  readonly heldBack?: HeldReason | undefined;
}

/** A conversation as a front end shows it. */
export interface FollowedConversation extends FollowedStatus {
  readonly id: string;
  /** Folded from the log. Later events are folded into the same object, right before their deltas are sent. */
  readonly state: Projections;
  /** The answer that is being written and the output of running calls, as far as the log does not have them. */
  readonly unfinished: readonly PartialAnswer[];
  readonly requests: readonly OpenRequest[];
  /** Background commands and subagents. */
  readonly commands: readonly HandleView[];
}

export type FollowChange =
  | { readonly type: 'event'; readonly folded: Folded }
  | { readonly type: 'partial'; readonly partial: PartialAnswer }
  | { readonly type: 'request'; readonly request: RequestChange }
  | { readonly type: 'status'; readonly status: FollowedStatus }
  | { readonly type: 'commands'; readonly commands: readonly HandleView[] };

/**
 * A snapshot comes first, and again whenever everything must be shown anew. Each delta's number is one more than that of
 * the message before it. `lost` is the last message: the conversation was deleted, or the connection has ended.
 */
export type FollowMessage =
  | { readonly type: 'snapshot'; readonly number: number; readonly conversation: FollowedConversation }
  | { readonly type: 'delta'; readonly number: number; readonly change: FollowChange }
  | { readonly type: 'lost'; readonly reason: string };

/** How a turn ended that this client has started. */
export interface TurnEnd {
  readonly outcome: 'done' | 'stopped' | 'error';
  /** The answer, if a schema was given. */
  readonly data?: unknown;
  /** Why the turn failed or was stopped. */
  readonly message?: string | undefined;
  /** The number of its last event; absent: not known. */
  readonly seq?: number;
}

/** A turn or a title of any conversation, for lists. */
export interface Progress {
  readonly conversation: string;
  readonly event: EventOf<'turn_started' | 'turn_ended' | 'title_set'>;
}

export const PROGRESS: readonly string[] = ['turn_started', 'turn_ended', 'title_set'];

export function isProgress(event: LogEvent): event is Progress['event'] {
  return PROGRESS.includes(event.type);
}

export interface Client extends Disposable {
  call<V extends Verb>(verb: V, params: VerbParams<V>): Promise<Result<VerbResult<V>>>;
  /**
   * Opens the conversation and follows it until the result is disposed of. `receive` gets the snapshot before this
   * resolves. Fails if there is no such conversation.
   */
  follow(conversation: string, receive: (message: FollowMessage) => void): Promise<Result<Disposable>>;
  /** Resolves once a turn that `send`, `resend` or `retry` has started has ended and nothing runs for it any more. */
  untilEnded(turn: string): Promise<TurnEnd>;
  /** The open approvals, questions and forms, of all conversations or of the followed ones, as the client was made. */
  readonly requests: RequestsClient;
  readonly onDidProgress: Event<Progress>;
  /** Resolves to the reason once the connection has ended; never in the process that runs the turns. */
  readonly ended: Promise<string>;
}
