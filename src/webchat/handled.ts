// The messages of the page that the web chat handles. The page hides everything that would send others.
import { type FromPage } from '../protocol/webview.ts';

export const HANDLED = [
  'ready',
  'draft',
  'send',
  'interrupt',
  'stop',
  'new_chat',
  'deliver_now',
  'dismiss_notifications',
  'answer_approval',
  'answer_question',
  'list_conversations',
  'open_conversation',
  'rename_conversation',
  'fork_conversation',
  'delete_conversation',
  'read_diff',
  'read_media',
  'read_context',
  'take_back',
  'send_queued',
  'raise_queued',
  'resend',
  'retry_turn',
  'move_to_background',
  'stop_handle',
  'hide_handle',
  'tell_of_handle',
  'attach_image',
  'detach',
  'complete',
  'choose_completion',
  'list_models',
  'pick_model',
  'set_mode',
  'set_effort',
  'set_approvals',
  'failed',
] as const satisfies readonly FromPage['type'][];

type HandledType = (typeof HANDLED)[number];

/** A message without a handler does not compile. */
export type PageHandlers = {
  readonly [T in HandledType]: (message: Extract<FromPage, { type: T }>) => Promise<void> | void;
};
