// What the page shows of background commands, and what it may say about them. Each is named by the call that started it.
import * as z from 'zod';

const call = z.string().max(1000);

export const handlesMessages = [
  /** The call that waits for the command returns; the command goes on as a handle. */
  z.strictObject({ type: z.literal('move_to_background'), call }),
  z.strictObject({ type: z.literal('show_terminal'), call }),
  z.strictObject({ type: z.literal('stop_handle'), call }),
  /** Says to the model how it stands and what it printed last, in the user's name. */
  z.strictObject({ type: z.literal('tell_of_handle'), call }),
  /** Takes one that has ended from the list. */
  z.strictObject({ type: z.literal('hide_handle'), call }),
] as const;

export interface HandleView {
  readonly call: string;
  readonly name: string;
  readonly command: string;
  readonly state: 'running' | 'waiting' | 'stopped' | 'failed';
  /** How it stands, for people: `ended with exit code 1 after 12 s`. */
  readonly detail: string;
  /** Its last lines. */
  readonly output: string;
}
