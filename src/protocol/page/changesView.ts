// The agent's changes as the page shows them, and the page's messages about them.
import * as z from 'zod';

export const changesMessages = [
  /** Opens the differences of one file, or of all files, in the editor. */
  z.strictObject({
    type: z.literal('review_changes'),
    path: z.string().max(5000).optional(),
    line: z.int().positive().optional(),
    /** Those that others made while a command ran. */
    meanwhile: z.literal(true).optional(),
  }),
] as const;

export interface HunkView {
  /** Line in the present file, from 1. */
  readonly line: number;
  readonly added: number;
  readonly removed: number;
  /** The first added line, or else the first removed one. */
  readonly text: string;
}

export interface ChangedFileView {
  readonly path: string;
  readonly kind: 'changed' | 'created' | 'deleted';
  readonly added: number;
  readonly removed: number;
  /** The file is not text, or too large to count its lines. */
  readonly uncounted?: true;
  /** Others have changed the same lines since: the change can be kept but not undone. */
  readonly clash?: true;
  /** A command overwrote somebody else's change: undoing restores that change. */
  readonly overwrote?: true;
  readonly version: string;
  /** Absent if there is only one hunk, or too many. */
  readonly hunks?: readonly HunkView[];
}

export interface ChangesView {
  readonly files: readonly ChangedFileView[];
  /** Counts all files, including those not listed. */
  readonly count: number;
  readonly added: number;
  readonly removed: number;
  /** Changes that others made while commands ran. They are never part of keeping or undoing everything. */
  readonly meanwhile: readonly ChangedFileView[];
  /** Counts all of them, including those not listed. */
  readonly meanwhileCount: number;
}
