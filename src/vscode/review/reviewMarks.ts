// Computes which lines of an editor are marked as the agent's, and the texts that they replaced, bounded in size.
import { decodeBytes } from '../../base/encodings.ts';
import { wholeCharacters } from '../../base/text.ts';
import { joinLines } from '../../core/checkpoints/byteLines.ts';
import { type Hunk } from '../../core/checkpoints/hunks.ts';

/** `removed`: lines are missing before the marked line. `removedAtEnd`: after it, which is the last one. */
export const MARK_KINDS = ['added', 'changed', 'removed', 'removedAtEnd'] as const;
type MarkKind = (typeof MARK_KINDS)[number];

export interface Mark {
  readonly kind: MarkKind;
  /** The first and the last marked line, counted from 0. */
  readonly first: number;
  readonly last: number;
  /** The lines that were there before; empty if there were none. */
  readonly before: string;
  /** How many of them `before` leaves out. */
  readonly left: number;
}

const MOST_LINES = 20;
const LONGEST_LINE = 300;

/** `lines`: the number of lines of the document. */
export function marksOf(hunks: readonly Hunk[], lines: number): readonly Mark[] {
  return hunks.map((hunk) => {
    const { start, added, removed } = hunk;
    const end = Math.max(0, lines - 1);
    const first = Math.min(start, end);
    const last = Math.min(Math.max(start, start + added.length - 1), end);
    return { kind: kindOf(hunk, lines), first, last, ...textBefore(removed) };
  });
}

function kindOf({ start, added, removed }: Hunk, lines: number): MarkKind {
  if (added.length > 0) return removed.length > 0 ? 'changed' : 'added';
  return start < lines ? 'removed' : 'removedAtEnd';
}

function textBefore(removed: readonly string[]): Pick<Mark, 'before' | 'left'> {
  const shown = removed.slice(0, MOST_LINES).map((line) => {
    const text = decodeBytes(joinLines([line]))?.text.replace(/\r?\n$/, '') ?? '';
    return text.length > LONGEST_LINE ? `${wholeCharacters(text, LONGEST_LINE)}…` : text;
  });
  return { before: shown.join('\n'), left: removed.length - shown.length };
}
