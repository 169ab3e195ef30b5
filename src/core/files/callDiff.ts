// Decides what a card shows of one changed file: hunks with a few lines around them, within bounds. Pure.
import { structuredPatch } from 'diff';
import { decodeBytes } from '../../base/encodings.ts';
import { wholeCharacters } from '../../base/text.ts';
import { type DiffHunk, type FileDiff } from '../../protocol/diffView.ts';
import { countLines, mostEdits } from './editBudget.ts';

const LONGEST_COMPARED = 2_000_000;
const MOST_EDITS = 2000;
const MOST_LINES = 400;
const LINE_LENGTH = 500;

export interface ChangedBytes {
  readonly path: string;
  /** Null: they were there, and are not kept any more. */
  readonly before?: Uint8Array | null;
  readonly after?: Uint8Array | null;
}

export function diffOfCall({ path, before, after }: ChangedBytes): FileDiff {
  const kind = before === undefined ? 'created' : after === undefined ? 'deleted' : 'changed';
  const head = { path, kind, added: 0, removed: 0, hunks: [] } as const;
  if (before === null || after === null) return { ...head, note: 'gone' };
  if ((before?.length ?? 0) + (after?.length ?? 0) > LONGEST_COMPARED) return { ...head, note: 'too_long' };
  const [old, now] = [before, after].map((bytes) => (bytes === undefined ? '' : decodeBytes(bytes)?.text));
  if (old === undefined || now === undefined) return { ...head, note: 'not_text' };
  const patch = structuredPatch('', '', old, now, '', '', {
    context: 3,
    maxEditLength: mostEdits(countLines(old) + countLines(now), MOST_EDITS),
  });
  if (patch === undefined) return { ...head, note: 'too_long' };
  const all = patch.hunks.flatMap(({ lines }) => lines);
  const count = (sign: string) => all.filter((line) => line.startsWith(sign)).length;
  const { hunks, cut } = bound(patch.hunks);
  return { ...head, added: count('+'), removed: count('-'), hunks, ...(cut > 0 && { cut }) };
}

function bound(all: readonly DiffHunk[]): { hunks: DiffHunk[]; cut: number } {
  const hunks: DiffHunk[] = [];
  let [left, cut] = [MOST_LINES, 0];
  for (const { oldStart, newStart, lines } of all) {
    const shown = lines.slice(0, left).map((line) => {
      const text = line.replace(/\r$/, '');
      return text.length > LINE_LENGTH ? `${wholeCharacters(text, LINE_LENGTH)}…` : text;
    });
    left -= shown.length;
    cut += lines.length - shown.length;
    if (shown.length > 0) hunks.push({ oldStart, newStart, lines: shown });
  }
  return { hunks, cut };
}

/** One file that went and one that came with the same bytes are one that moved. */
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
