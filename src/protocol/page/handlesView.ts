// Background commands, subagents, timers and conditions as the page shows them, and its messages about them: by the call
// that started a command, by the name of a timer or a condition.
import * as z from 'zod';
import { type Condition, type Truth } from '../wakes.ts';

const call = z.string().max(1000);

export const handlesMessages = [
  z.strictObject({ type: z.literal('show_terminal'), call }),
  /** Removes an ended command from the list. */
  z.strictObject({ type: z.literal('hide_handle'), call }),
  /** Fires a timer or a condition at once. */
  z.strictObject({ type: z.literal('fire_wake'), name: call }),
  z.strictObject({ type: z.literal('cancel_wake'), name: call }),
] as const;

export interface HandleView {
  readonly call: string;
  readonly name: string;
  readonly command: string;
  readonly state: 'running' | 'waiting' | 'stopped' | 'failed';
  /** Its state in words: `ended with exit code 1 after 12 s`. */
  readonly detail: string;
  /** Set if all that can be said is that it is running: since when. RFC 3339. */
  readonly since?: string | undefined;
  /** Its last lines of output. */
  readonly output: string;
  /** Set for a subagent: its conversation, and the tokens it used, null if not known. */
  readonly agent?: { readonly conversation: string; readonly tokens: number | null };
}

export interface DueFact {
  readonly truth: Truth;
  /** `something listens`; may be empty. */
  readonly evidence: string;
}

/** A timer or a condition that the model has set. */
export interface DueView {
  readonly name: string;
  /** It waits for nothing but the time. */
  readonly timer: boolean;
  /** RFC 3339: when it is due; for a condition, its deadline. */
  readonly next: string;
  readonly note: string;
  /** Absent for a timer. */
  readonly when?: Condition;
  /** What is known about each atom of `when`, in their order; empty if nothing is. */
  readonly facts: readonly DueFact[];
  /** How often a repeated timer is due at most. */
  readonly left?: number;
}
