// Background commands, subagents, timers and conditions as the page shows them, and its messages about them: by the call
// that started a command.
import * as z from 'zod';
import { type Condition, type Truth } from '../wakes.ts';

const call = z.string().max(1000);

export const handlesMessages = [
  z.strictObject({ type: z.literal('show_terminal'), call }),
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
  readonly what: 'wake';
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

/** Lines of a command or a file, or events of an MCP server, for which the model waits until it has had enough. */
export interface FollowedView {
  readonly what: 'lines' | 'events';
  /** Names it in `cancel_due`. */
  readonly name: string;
  /** The command, the file, or the event. */
  readonly title: string;
  /** Patterns of lines. */
  readonly waitsFor: readonly string[];
  /** Seconds of silence that are reported too. */
  readonly quiet?: number;
  /** How often it may still wake the model, and until when (RFC 3339); absent: only lines of its own commands may. */
  readonly wakes?: { readonly left: number; readonly until: string };
}

/** One of the list of what is due. */
export const dueSchema = z.custom<DueView | FollowedView>((one) => typeof one === 'object' && one !== null);
