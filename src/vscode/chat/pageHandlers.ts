// Assigns every message of the chat page to the part of the window that handles it.
import { type Event } from '../../base/emitter.ts';
import { type completionsMessages } from '../../protocol/page/completionsView.ts';
import { type controlsMessages } from '../../protocol/page/controlsView.ts';
import { type conversationsMessages } from '../../protocol/page/conversationsView.ts';
import { type pendingMessages } from '../../protocol/page/pendingView.ts';
import { type transcriptMessages } from '../../protocol/page/transcriptMessages.ts';
import { type FromPageHandlers } from '../../protocol/webview.ts';

type ReviewMessage = 'review_changes' | 'keep_changes' | 'undo_changes' | 'undo_meanwhile' | 'restore' | 'bring_back';
type HandlesMessage = 'move_to_background' | 'show_terminal' | 'stop_handle' | 'tell_of_handle' | 'hide_handle';
type ControlsMessage = (typeof controlsMessages)[number]['shape']['type']['value'];
type ConversationsMessage = (typeof conversationsMessages)[number]['shape']['type']['value'];
type PendingMessage = (typeof pendingMessages)[number]['shape']['type']['value'];
type TranscriptMessage = (typeof transcriptMessages)[number]['shape']['type']['value'];
type CompletionsMessage = (typeof completionsMessages)[number]['shape']['type']['value'];

export type ReviewHandlers = Pick<FromPageHandlers, ReviewMessage>;
export type HandlesHandlers = Pick<FromPageHandlers, HandlesMessage>;
export type ControlsHandlers = Pick<FromPageHandlers, ControlsMessage>;
export type PendingHandlers = Pick<FromPageHandlers, PendingMessage>;
export type TranscriptHandlers = Pick<FromPageHandlers, TranscriptMessage>;
export type CompletionsHandlers = Pick<FromPageHandlers, CompletionsMessage>;
export type ConversationsHandlers = Pick<FromPageHandlers, ConversationsMessage>;
/** `ready` and `focused` are handled by the view itself. */
export type ChatHandlers = Omit<
  FromPageHandlers,
  | 'ready'
  | 'focused'
  | ReviewMessage
  | HandlesMessage
  | ControlsMessage
  | ConversationsMessage
  | PendingMessage
  | TranscriptMessage
  | CompletionsMessage
>;

/** The conversation that the chat shows, for the other parts of the page. */
export interface ShownChat {
  readonly shown: string | undefined;
  /** Fires after each update of the head; `shown` may have changed. */
  readonly onDidRefresh: Event<void>;
}
