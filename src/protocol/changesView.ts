// What the page shows of the agent's changes, and what it may say about them.
import * as z from 'zod';

const path = z.string().max(5000);
/** One part of a file: `version` names the state of the file that `index` counts in. */
const hunk = z.strictObject({ version: z.string().max(200), index: z.int().min(0) });

/** What others changed while a command ran is meant. */
const meanwhile = z.literal(true).optional();

export const changesMessages = [
  /** Opens the differences in the editor: of one file, or of all. */
  z.strictObject({
    type: z.literal('review_changes'),
    path: path.optional(),
    line: z.int().positive().optional(),
    meanwhile,
  }),
  /** Without a path: all of them. With a part: only that. */
  z.strictObject({ type: z.literal('keep_changes'), path: path.optional(), hunk: hunk.optional(), meanwhile }),
  z.strictObject({ type: z.literal('undo_changes'), path: path.optional(), hunk: hunk.optional() }),
  /** Asks, and then gives one file that others changed meanwhile the bytes from before the command. */
  z.strictObject({ type: z.literal('undo_meanwhile'), path }),
  /** Shows what restoring the files to before the turn of this request would do, and asks. */
  z.strictObject({ type: z.literal('restore'), request: z.string().max(100) }),
  /** Takes an undoing or a restoring back. */
  z.strictObject({ type: z.literal('bring_back'), decision: z.string().max(100) }),
] as const;

/** Reverts an undo or a restore. */
export type BringBackMessage = Extract<z.infer<(typeof changesMessages)[number]>, { type: 'bring_back' }>;

export interface HunkView {
  /** Where it is in the present file, from 1. */
  readonly line: number;
  readonly added: number;
  readonly removed: number;
  /** The first line that was added, or else removed. */
  readonly text: string;
}

export interface ChangedFileView {
  readonly path: string;
  readonly kind: 'changed' | 'created' | 'deleted';
  readonly added: number;
  readonly removed: number;
  /** No text, or too much to be counted. */
  readonly uncounted?: true;
  /** Changed by others in the same lines since: it can be kept, but not undone. */
  readonly clash?: true;
  /** A command replaced what somebody else had written: undoing restores it. */
  readonly overwrote?: true;
  readonly version: string;
  /** Absent where there is but one, or too many. */
  readonly hunks?: readonly HunkView[];
}

export interface ChangesView {
  readonly files: readonly ChangedFileView[];
  /** Of all files, also of those that are not listed. */
  readonly count: number;
  readonly added: number;
  readonly removed: number;
  /** What others changed while commands ran: never part of what is kept or undone as a whole. */
  readonly meanwhile: readonly ChangedFileView[];
  /** Of all of those, also of those that are not listed. */
  readonly meanwhileCount: number;
}
