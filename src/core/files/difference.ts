// Renders the difference of two texts: hunks if they are within the limits, otherwise counts. Changed line endings are
// named separately. Pure.
import { structuredPatch } from 'diff';
import { countLines, mostEdits } from './editBudget.ts';

/** The limit for both texts together, in characters. */
export const LONGEST_COMPARED = 2_000_000;
const MOST_EDITS = 2000;

export interface DifferenceLimits {
  readonly lines: number;
  readonly characters: number;
  /** Leaves out the `@@` line of a hunk that shows both texts from beginning to end. */
  readonly bareWhole?: boolean;
}

export interface Difference {
  readonly added: number;
  readonly removed: number;
  /** Everything that differs; absent if it is too long. */
  readonly diff?: string;
}

/** Undefined if there is too much to compare. */
export function differenceOf(before: string, after: string, limits: DifferenceLimits): Difference | undefined {
  if (before.length + after.length > LONGEST_COMPARED) return undefined;
  const endings = changedEndings(before, after);
  const [old, now] = endings === undefined ? [before, after] : [withLf(before), withLf(after)];
  const patch = structuredPatch('', '', old, now, '', '', {
    context: 2,
    maxEditLength: mostEdits(countLines(old) + countLines(now), MOST_EDITS),
  });
  if (patch === undefined) return undefined;
  const isBare = (hunk: Span) =>
    limits.bareWhole === true && hunk.oldLines === hunkLines(old) && hunk.newLines === hunkLines(now);
  const lines = patch.hunks.flatMap((hunk) => [
    ...(isBare(hunk) ? [] : [`@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`]),
    ...hunk.lines,
  ]);
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  const diff = [...(endings === undefined ? [] : [endings]), ...lines].join('\n');
  const fits = lines.length <= limits.lines && diff.length <= limits.characters;
  return { added: count('+'), removed: count('-'), ...(fits && { diff }) };
}

type Span = Readonly<Record<'oldLines' | 'newLines', number>>;

/** Counts as hunks do: text after the last line end is a line only if it is not empty. */
function hunkLines(text: string): number {
  const pieces = text.split('\n');
  return pieces.at(-1) === '' ? pieces.length - 1 : pieces.length;
}

/** Names changed line endings, since a diff would show every line as changed, with no visible difference. */
function changedEndings(before: string, after: string): string | undefined {
  const [old, now] = [endingOf(before), endingOf(after)];
  if (old === now || old === undefined || now === undefined) return undefined;
  return `(Line endings: ${old} before, ${now} now.)`;
}

/** How the lines of a text end; undefined if it has only one line. */
export function endingOf(text: string): 'LF' | 'CRLF' | 'mixed' | undefined {
  const crlf = text.includes('\r\n');
  const lf = crlf ? /(?<!\r)\n/.test(text) : text.includes('\n');
  if (crlf) return lf ? 'mixed' : 'CRLF';
  return lf ? 'LF' : undefined;
}

function withLf(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
