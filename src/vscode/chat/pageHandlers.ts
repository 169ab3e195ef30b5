// Which part of the window handles which message of the chat page; together they handle all of them.
import { type Event } from '../../base/emitter.ts';
import { type FromPageHandlers } from '../../protocol/webview.ts';

type ReviewMessage = 'review_changes' | 'keep_changes' | 'undo_changes' | 'undo_meanwhile' | 'restore' | 'bring_back';
type HandlesMessage = 'move_to_background' | 'show_terminal' | 'stop_handle' | 'tell_of_handle' | 'hide_handle';

export type ReviewHandlers = Pick<FromPageHandlers, ReviewMessage>;
export type HandlesHandlers = Pick<FromPageHandlers, HandlesMessage>;
/** `ready` is handled by the view itself. */
export type ChatHandlers = Omit<FromPageHandlers, 'ready' | ReviewMessage | HandlesMessage>;

/** The conversation that the chat shows, for the other parts of the page. */
export interface ShownChat {
  readonly shown: string | undefined;
  /** The shown conversation may be another one. */
  readonly onDidRefresh: Event<void>;
}
