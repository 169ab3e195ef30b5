// Finds the lines of a file that a text, such as a command's output, contains: runs of consecutive lines, in one pass. Pure.
import { type SeenPart } from '../../protocol/event.ts';
import { joinParts } from './seenPart.ts';

/** Fewer lines in a row may stand there by chance, or in another order. */
const SHORTEST_RUN = 3;

/** `whole`: every line stands there. Undefined: none does, as far as that is certain. */
export type ShownLines = 'whole' | SeenPart | undefined;

/**
 * `pieces` are what was shown, with gaps between them. A run counts from a line on that the file has only once, so that it
 * is certain which of its lines they are; a short one only if it is the whole file or the whole piece.
 */
export function linesShownIn(pieces: readonly string[], file: string): ShownLines {
  const lines = linesOf(file);
  // What follows the last line break is a line too, of which nothing can be seen.
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

/** Line endings are not distinguished: no output shows them. */
function linesOf(text: string): string[] {
  return text.replace(/^\uFEFF/, '').split(/\r?\n/);
}

/** Where each line stands that the file has only once; undefined for the others. */
function placesOf(lines: readonly string[], last: number): ReadonlyMap<string, number | undefined> {
  const places = new Map<string, number | undefined>();
  for (let index = 0; index < last; index += 1) {
    const line = lines[index] ?? '';
    places.set(line, places.has(line) ? undefined : index);
  }
  return places;
}

/** Counted from 1. Every line of the piece belongs to one run at most, so that it takes time by the length of the piece. */
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
