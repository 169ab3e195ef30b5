// Decides what the page is told of the changes that are to be reviewed: bounded, however many there are.
import { decodeBytes } from '../base/encodings.ts';
import { wholeCharacters } from '../base/text.ts';
import { joinLines } from '../core/checkpoints/byteLines.ts';
import { type Hunk } from '../core/checkpoints/hunks.ts';
import { type ReviewedFile } from '../core/checkpoints/review.ts';
import { type ChangedFileView, type ChangesView, type HunkView } from '../protocol/changesView.ts';

const MOST_FILES = 100;
const MOST_HUNKS = 30;
const LONGEST_TEXT = 100;

export function viewChanges(files: readonly ReviewedFile[]): ChangesView | null {
  if (files.length === 0) return null;
  const sum = (side: 'added' | 'removed') => files.reduce((total, file) => total + file[side], 0);
  return {
    files: files.slice(0, MOST_FILES).map(viewFile),
    count: files.length,
    added: sum('added'),
    removed: sum('removed'),
  };
}

function viewFile({ path, kind, added, removed, clash, version, hunks }: ReviewedFile): ChangedFileView {
  const parts = !clash && kind === 'changed' && hunks !== undefined && hunks.length > 1 && hunks.length <= MOST_HUNKS;
  return {
    path,
    kind,
    added,
    removed,
    version,
    ...(hunks === undefined && { uncounted: true }),
    ...(clash && { clash: true }),
    ...(parts && { hunks: hunks.map(viewHunk) }),
  };
}

function viewHunk({ start, added, removed }: Hunk): HunkView {
  const first = [...added, ...removed].find((line) => line.trim() !== '') ?? '';
  const text = (decodeBytes(joinLines([first]))?.text ?? '').trim();
  const short = text.length > LONGEST_TEXT ? `${wholeCharacters(text, LONGEST_TEXT - 1)}…` : text;
  return { line: start + 1, added: added.length, removed: removed.length, text: short };
}
