// Background commands and subagents as the page shows them, and its messages about them, by the call that started each.
import * as z from 'zod';

const call = z.string().max(1000);

export const handlesMessages = [
  /** The call that waits for the command returns; the command continues as a handle. */
  z.strictObject({ type: z.literal('move_to_background'), call }),
  z.strictObject({ type: z.literal('show_terminal'), call }),
  z.strictObject({ type: z.literal('stop_handle'), call }),
  /** Sends its state and last output to the model as the user's message. */
  z.strictObject({ type: z.literal('tell_of_handle'), call }),
  /** Removes an ended command from the list. */
  z.strictObject({ type: z.literal('hide_handle'), call }),
] as const;

export interface HandleView {
  readonly call: string;
  readonly name: string;
  readonly command: string;
  readonly state: 'running' | 'waiting' | 'stopped' | 'failed';
  /** Its state in words: `ended with exit code 1 after 12 s`. */
  readonly detail: string;
  /** Its last lines of output. */
  readonly output: string;
  /** Set for a subagent: its conversation, and the tokens it used, null if not known. */
  readonly agent?: { readonly conversation: string; readonly tokens: number | null };
}
