// The page's messages about items of the transcript, code blocks and diffs, and about files that the model knows.
import * as z from 'zod';

const id = z.string().max(500);
const code = z.string().max(1_000_000);

export const transcriptMessages = [
  z.strictObject({ type: z.literal('insert_code'), text: code }),
  /** Shows a preview of the change before it is made. */
  z.strictObject({ type: z.literal('apply_code'), text: code }),
  z.strictObject({ type: z.literal('run_in_terminal'), text: code }),
  /** Opens a call's changes of a file in a diff editor. */
  z.strictObject({ type: z.literal('open_diff'), call: id, path: z.string().max(5000) }),
  /** Shows the request of an answer or a call as it was sent. */
  z.strictObject({ type: z.literal('show_request'), item: id }),
  /** Opens the difference between a file as the model knows it and the file now. */
  z.strictObject({ type: z.literal('open_known_difference'), path: z.string().max(5000) }),
] as const;

/** The button of an undo or a restore. */
export interface RevertMessage {
  readonly type: 'revert';
  readonly decision: string;
}

/** Buttons of an error. */
export interface NoticeActionMessage {
  readonly type: 'retry' | 'set_api_key' | 'choose_model' | 'open_settings';
}
