// The diff of one changed file on a tool's card: hunks with a few lines of context, within bounds. Pure.
import { structuredPatch } from 'diff';
import { decodeBytes } from '../../base/encodings.ts';
import { wholeCharacters } from '../../base/text.ts';
import { type DiffHunk, type FileDiff } from '../../protocol/page/diffView.ts';
import { countLines, mostEdits } from './editBudget.ts';

const LONGEST_COMPARED = 2_000_000;
const MOST_EDITS = 2000;
const CONTEXT = 3;

interface DiffLimits {
  readonly lines: number;
  readonly lineLength: number;
  readonly characters: number;
}

/** For the card of a finished call: the editor can show the whole change. */
const OF_CARD: DiffLimits = { lines: 400, lineLength: 500, characters: 200_000 };
/** For an approval, which shows as much as a page can hold. */
export const OF_APPROVAL: DiffLimits = { lines: 5000, lineLength: 5000, characters: 1_000_000 };

export interface ChangedBytes {
  readonly path: string;
  /** Null: there were bytes, but they are no longer stored. */
  readonly before?: Uint8Array | null;
  readonly after?: Uint8Array | null;
}

export function diffOfCall({ path, before, after }: ChangedBytes, limits: DiffLimits = OF_CARD): FileDiff {
  const kind = before === undefined ? 'created' : after === undefined ? 'deleted' : 'changed';
  const sizes = { ...(before && { before: before.length }), ...(after && { after: after.length }) };
  const head = { path, kind, added: 0, removed: 0, hunks: [] } as const;
  if (before === null || after === null) return { ...head, note: 'gone', sizes };
  const [old, now] = [before, after].map((bytes) => (bytes === undefined ? '' : decodeBytes(bytes)?.text));
  if (old === undefined || now === undefined) return { ...head, note: 'not_text', sizes };
  const long = old.length + now.length > LONGEST_COMPARED;
  const all = (long ? undefined : exactHunks(old, now)) ?? coarseHunks(old, now);
  const count = (sign: string) =>
    all.reduce((sum, { lines }) => sum + lines.filter((line) => line.startsWith(sign)).length, 0);
  const counts = { added: count('+'), removed: count('-') };
  if (long) return { ...head, ...counts, note: 'too_long', sizes };
  const { hunks, cut } = limitHunks(all, limits);
  return { ...head, ...counts, hunks, ...(cut > 0 && { cut }) };
}

/** Undefined if there are too many differences to find the fewest. */
function exactHunks(old: string, now: string): readonly DiffHunk[] | undefined {
  return structuredPatch('', '', old, now, '', '', {
    context: CONTEXT,
    maxEditLength: mostEdits(countLines(old) + countLines(now), MOST_EDITS),
  })?.hunks;
}

/** Replaces everything between the first and the last difference: correct, though not minimal. */
function coarseHunks(old: string, now: string): readonly DiffHunk[] {
  const [before, after] = [linesOf(old), linesOf(now)];
  const shorter = Math.min(before.length, after.length);
  let [start, end] = [0, 0];
  while (start < shorter && before[start] === after[start]) start += 1;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  if (start === before.length && start === after.length) return [];
  const first = Math.max(0, start - CONTEXT);
  const sign = (mark: string, lines: readonly string[]) => lines.map((line) => mark + line);
  const lines = [
    ...sign(' ', before.slice(first, start)),
    ...sign('-', before.slice(start, before.length - end)),
    ...sign('+', after.slice(start, after.length - end)),
    ...sign(' ', before.slice(before.length - end, before.length - end + CONTEXT)),
  ];
  return [{ oldStart: first + 1, newStart: first + 1, lines }];
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function limitHunks(all: readonly DiffHunk[], limits: DiffLimits): { hunks: DiffHunk[]; cut: number } {
  const hunks: DiffHunk[] = [];
  let { lines: left, characters } = limits;
  let cut = 0;
  for (const { oldStart, newStart, lines } of all) {
    const shown: string[] = [];
    for (const line of lines) {
      if (left <= 0 || characters <= 0) break;
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      shown.push(text.length > limits.lineLength ? `${wholeCharacters(text, limits.lineLength)}…` : text);
      left -= 1;
      characters -= Math.min(text.length, limits.lineLength);
    }
    cut += lines.length - shown.length;
    if (shown.length > 0) hunks.push({ oldStart, newStart, lines: shown });
  }
  return { hunks, cut };
}

/** A deleted file and a created one with the same bytes are one moved file. */
export function joinMoves(
  files: readonly {
    readonly path: string;
    readonly before?: string | undefined;
    readonly after?: string | undefined;
  }[],
): readonly {
  readonly path: string;
  readonly from?: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}[] {
  const gone = files.filter(({ before, after }) => before !== undefined && after === undefined);
  const moves = new Map(
    files.flatMap((file) => {
      const from = file.before === undefined ? gone.find(({ before }) => before === file.after) : undefined;
      return from === undefined ? [] : [[file.path, from.path] as const];
    }),
  );
  const left = new Set(moves.values());
  return files
    .filter(({ path }) => !left.has(path))
    .map((file) => {
      const from = moves.get(file.path);
      return from === undefined ? file : { ...file, from };
    });
}
