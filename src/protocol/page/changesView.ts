// The agent's changes as the page shows them, and the page's messages about them.
import * as z from 'zod';
import { conversationId } from './conversationsView.ts';

const path = z.string().max(5000);
/** One hunk of a file. `index` counts the hunks of the file's state that `version` names. */
const hunk = z.strictObject({ version: z.string().max(200), index: z.int().min(0) });

/** Refers to changes that others made while a command ran. */
const meanwhile = z.literal(true).optional();

export const changesMessages = [
  /** Opens the differences of one file, or of all files, in the editor. */
  z.strictObject({
    type: z.literal('review_changes'),
    path: path.optional(),
    line: z.int().positive().optional(),
    meanwhile,
  }),
  /** Applies to all changes, or only to those of the path, or only to the hunk. */
  z.strictObject({ type: z.literal('keep_changes'), path: path.optional(), hunk: hunk.optional(), meanwhile }),
  z.strictObject({ type: z.literal('undo_changes'), path: path.optional(), hunk: hunk.optional() }),
  /** After confirmation, restores one file that others changed meanwhile to its bytes before the command. */
  z.strictObject({ type: z.literal('undo_meanwhile'), path }),
  /**
   * Previews restoring the files to their state before this request's turn, and asks for confirmation. The request is in
   * the shown conversation, or in the given one.
   */
  z.strictObject({
    type: z.literal('restore'),
    request: z.string().max(100),
    conversation: conversationId.optional(),
  }),
  z.strictObject({ type: z.literal('bring_back'), decision: z.string().max(100) }),
] as const;

/** Reverts an undo or a restore. */
export type BringBackMessage = Extract<z.infer<(typeof changesMessages)[number]>, { type: 'bring_back' }>;

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
