// Finds the lines that a search command (`grep`, `rg`, `git grep`) shows in its output, by comparing them with the files.
import { type ShownFile } from '../../core/ports/fileViews.ts';
import { shownLinesOf } from '../searching/shownLines.ts';

const SEARCHES = /(?:^|[;&|(]|\bxargs\b[^;&|]{0,200}|\bgit\b[^;&|]{0,200})\s*(?:\S{0,200}\/)?(?:[ef]?grep|rg|ag|ack)\b/;
const MOST_LINES = 2000;
const LONGEST_LINE = 2000;

/** A file that the command may have searched. */
export interface SearchedFile extends Required<Pick<ShownFile, 'file' | 'bytes'>> {
  readonly text: string;
}

export function isSearch(command: string): boolean {
  return SEARCHES.test(command.slice(0, 10_000));
}

/** The paths at the beginning of the lines of the output. */
export function pathsInOutput(pieces: readonly string[]): readonly string[] {
  const paths = new Set<string>();
  for (const line of linesOf(pieces)) {
    const path = /^([^:\0]{1,500}):/.exec(line)?.[1] ?? /^(\S{1,500}?)-\d+-/.exec(line)?.[1];
    if (path !== undefined) paths.add(path);
  }
  return [...paths];
}

/** The lines of this file in the output, with or without the path and the line number. */
export function foundInFile(
  found: SearchedFile,
  names: readonly string[],
  pieces: readonly string[],
): ShownFile | undefined {
  const lines = found.text.split(/\r?\n/);
  const places = new Map<string, number | undefined>();
  for (const [index, line] of lines.entries()) places.set(line, places.has(line) ? undefined : index + 1);
  const numbers = linesOf(pieces).flatMap((line) => {
    const name = names.find((one) => line.startsWith(`${one}:`) || line.startsWith(`${one}-`));
    const rest = name === undefined ? line : line.slice(name.length + 1);
    const [, number, text = ''] = /^(\d{1,9})[:-](.*)$/.exec(rest) ?? [];
    if (number !== undefined && lines[Number(number) - 1] === text) return [Number(number)];
    // Without its number, a line is certain only if the file has it once.
    return rest.trim() === '' ? [] : (places.get(rest) ?? []);
  });
  return shownLinesOf(found, numbers);
}

function linesOf(pieces: readonly string[]): readonly string[] {
  const lines = pieces.flatMap((piece) => piece.split(/\r?\n/)).slice(0, MOST_LINES);
  return lines.filter((line) => line.length <= LONGEST_LINE);
}
