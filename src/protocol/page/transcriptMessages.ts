// The page's messages about items of the transcript: requests, code blocks, diffs and queued messages.
import * as z from 'zod';

const id = z.string().max(500);
const code = z.string().max(1_000_000);

export const transcriptMessages = [
  /** Forks the conversation before this request and sends `text` instead; if absent, sends the same text again. */
  z.strictObject({ type: z.literal('resend'), request: id, text: z.string().max(1_000_000).optional() }),
  /** Continues a failed turn with the same messages. */
  z.strictObject({ type: z.literal('retry_turn') }),
  z.strictObject({ type: z.literal('insert_code'), text: code }),
  /** Shows a preview of the change before it is made. */
  z.strictObject({ type: z.literal('apply_code'), text: code }),
  z.strictObject({ type: z.literal('run_in_terminal'), text: code }),
  /** Opens a call's changes of a file in a diff editor. */
  z.strictObject({ type: z.literal('open_diff'), call: id, path: z.string().max(5000) }),
  /** Interrupts the turn with a queued message. */
  z.strictObject({ type: z.literal('send_queued'), id }),
  /** Moves a queued message one place up. */
  z.strictObject({ type: z.literal('raise_queued'), id }),
  /** Requests an image or a recording of a result; answered with `media`. */
  z.strictObject({ type: z.literal('read_media'), hash: z.string().max(200) }),
] as const;

/** Buttons of an error. */
export interface NoticeActionMessage {
  readonly type: 'retry_turn' | 'set_api_key' | 'choose_model' | 'open_settings';
}
