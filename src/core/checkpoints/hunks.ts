// Computes the hunks by which a file differs from an earlier state, and the file without one hunk or with only one.
// Pure.
import { diffArrays } from 'diff';
import { mostEdits } from '../files/editBudget.ts';
import { byteLines, joinLines } from './byteLines.ts';

export interface Hunk {
  /** The number of lines before the hunk, in the old and in the present file. */
  readonly oldStart: number;
  readonly start: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface Difference {
  readonly added: number;
  readonly removed: number;
  /** Undefined if it is not text, or too different to split into hunks. */
  readonly hunks?: readonly Hunk[];
}

const MOST_EDITS = 2000;

/** Undefined bytes mean that there is no file. */
export function differenceOf(old: Uint8Array | undefined, present: Uint8Array | undefined): Difference {
  const [oldLines, lines] = [byteLines(old ?? nothing), byteLines(present ?? nothing)];
  if (oldLines === undefined || lines === undefined) return { added: 0, removed: 0 };
  const hunks = hunksBetween(oldLines, lines);
  if (hunks === undefined) return { added: lines.length, removed: oldLines.length };
  const count = (side: 'added' | 'removed') => hunks.reduce((sum, hunk) => sum + hunk[side].length, 0);
  return { added: count('added'), removed: count('removed'), hunks };
}

/** Undefined if the two are too different. */
export function hunksBetween(oldLines: readonly string[], lines: readonly string[]): readonly Hunk[] | undefined {
  const parts = diffArrays([...oldLines], [...lines], {
    maxEditLength: mostEdits(oldLines.length + lines.length, MOST_EDITS),
  });
  if (parts === undefined) return undefined;
  const hunks: Hunk[] = [];
  let [oldAt, at] = [0, 0];
  let open: { oldStart: number; start: number; removed: string[]; added: string[] } | undefined;
  for (const { value, added, removed } of parts) {
    if (added || removed) {
      open ??= { oldStart: oldAt, start: at, removed: [], added: [] };
      const side = open[added ? 'added' : 'removed'];
      for (const line of value) side.push(line);
    } else if (open !== undefined) {
      hunks.push(open);
      open = undefined;
    }
    if (!added) oldAt += value.length;
    if (!removed) at += value.length;
  }
  if (open !== undefined) hunks.push(open);
  return hunks;
}

/** The present file with this hunk undone. */
export function withoutHunk(present: Uint8Array, hunk: Hunk): Uint8Array {
  const lines = byteLines(present) ?? [];
  return joinLines(replaced(lines, hunk.start, hunk.added.length, hunk.removed));
}

/** The old file with this hunk applied. */
export function withHunk(old: Uint8Array, hunk: Hunk): Uint8Array {
  const lines = byteLines(old) ?? [];
  return joinLines(replaced(lines, hunk.oldStart, hunk.removed.length, hunk.added));
}

/** Not with `splice`: a hunk may have more lines than a call can have arguments. */
function replaced(lines: readonly string[], start: number, count: number, by: readonly string[]): string[] {
  return [lines.slice(0, start), by, lines.slice(start + count)].flat();
}

const nothing = new Uint8Array();
