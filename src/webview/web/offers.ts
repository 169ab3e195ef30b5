// The messages that the web chat handles. Its page shows nothing that needs others.
import type { FromPage } from '../../protocol/webview.ts';

export const WEB_OFFERS: ReadonlySet<FromPage['type']> = new Set([
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
  'read_diff',
  'take_back',
  'send_queued',
  'raise_queued',
  'resend',
  'retry_turn',
  'move_to_background',
  'failed',
]);
