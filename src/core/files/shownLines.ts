// Finds the lines of a file that a text, such as a command's output, contains: runs of consecutive lines, in one pass.
// Pure.
import { type SeenPart } from '../../protocol/event.ts';
import { joinParts } from './seenPart.ts';

/** Fewer consecutive lines may match by chance. */
const SHORTEST_RUN = 3;

/** `whole`: every line was shown. Undefined: it is not certain of any line. */
export type ShownLines = 'whole' | SeenPart | undefined;

/**
 * `pieces` are the shown texts, with gaps between them. A run must contain a line that the file has only once, so that
 * it is certain which lines were shown. A short run counts only if it is the whole file or the whole piece.
 */
export function linesShownIn(pieces: readonly string[], file: string): ShownLines {
  const lines = linesOf(file);
  // The empty text after the last line break counts as a line, but no output can show it.
  const last = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  if (last === 0) return undefined;
  const places = placesOf(lines, last);
  const ranges = pieces.flatMap((piece) => runsIn(linesOf(piece.trimEnd()), lines, last, places));
  if (ranges.length === 0) return undefined;
  const part = joinParts(
    { ranges: ranges.map(([first, end]) => [first, end === last ? lines.length : end]), of: lines.length },
    { ranges: [], of: 0 },
  );
  return part ?? 'whole';
}

/** Ignores the kind of line ending, since output does not show it. */
function linesOf(text: string): string[] {
  return text.replace(/^\uFEFF/, '').split(/\r?\n/);
}

/** The index of each line that occurs only once in the file; undefined for the others. */
function placesOf(lines: readonly string[], last: number): ReadonlyMap<string, number | undefined> {
  const places = new Map<string, number | undefined>();
  for (let index = 0; index < last; index += 1) {
    const line = lines[index] ?? '';
    places.set(line, places.has(line) ? undefined : index);
  }
  return places;
}

/** Ranges counted from 1. Each line of the piece is in at most one run, so the time is linear in the piece's length. */
function runsIn(
  piece: readonly string[],
  lines: readonly string[],
  last: number,
  places: ReadonlyMap<string, number | undefined>,
): [number, number][] {
  const runs: [number, number][] = [];
  let free = 0;
  for (let at = 0; at < piece.length; at += 1) {
    const place = places.get(piece[at] ?? '');
    if (place === undefined) continue;
    let back = 0;
    while (at - back > free && place - back > 0 && piece[at - back - 1] === lines[place - back - 1]) back += 1;
    let on = 1;
    while (at + on < piece.length && place + on < last && piece[at + on] === lines[place + on]) on += 1;
    const length = back + on;
    if (length >= SHORTEST_RUN || length === last || length === piece.length) runs.push([place - back + 1, place + on]);
    free = at + on;
    at = free - 1;
  }
  return runs;
}
