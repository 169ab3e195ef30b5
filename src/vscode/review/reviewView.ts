// Maps the changes to review to their view on the page, bounded in size.
import { decodeBytes } from '../../base/encodings.ts';
import { wholeCharacters } from '../../base/text.ts';
import { joinLines } from '../../core/checkpoints/byteLines.ts';
import { type Hunk } from '../../core/checkpoints/hunks.ts';
import { type ReviewedFile } from '../../core/checkpoints/review.ts';
import { type ChangedFileView, type ChangesView, type HunkView } from '../../protocol/page/changesView.ts';

const MOST_FILES = 100;
const MOST_HUNKS = 30;
const LONGEST_TEXT = 100;

export function viewChanges(
  files: readonly ReviewedFile[],
  meanwhile: readonly ReviewedFile[] = [],
): ChangesView | null {
  if (files.length + meanwhile.length === 0) return null;
  const sum = (side: 'added' | 'removed') => files.reduce((total, file) => total + file[side], 0);
  return {
    files: files.slice(0, MOST_FILES).map((file) => viewFile(file)),
    count: files.length,
    added: sum('added'),
    removed: sum('removed'),
    // Reviewed as whole files: it is unknown who wrote which part.
    meanwhile: meanwhile.slice(0, MOST_FILES).map((file) => viewFile(file, false)),
    meanwhileCount: meanwhile.length,
  };
}

function viewFile(file: ReviewedFile, inParts = true): ChangedFileView {
  const { path, kind, added, removed, clash, overwrote, version, hunks } = file;
  const parts =
    inParts && !clash && kind === 'changed' && hunks !== undefined && hunks.length > 1 && hunks.length <= MOST_HUNKS;
  return {
    path,
    kind,
    added,
    removed,
    version,
    ...(hunks === undefined && { uncounted: true }),
    ...(clash && { clash: true }),
    ...(overwrote && !clash && { overwrote: true }),
    ...(parts && { hunks: hunks.map(viewHunk) }),
  };
}

function viewHunk({ start, added, removed }: Hunk): HunkView {
  const first = [...added, ...removed].find((line) => line.trim() !== '') ?? '';
  const text = (decodeBytes(joinLines([first]))?.text ?? '').trim();
  const short = text.length > LONGEST_TEXT ? `${wholeCharacters(text, LONGEST_TEXT - 1)}…` : text;
  return { line: start + 1, added: added.length, removed: removed.length, text: short };
}
