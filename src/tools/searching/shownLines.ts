// The lines of a file that a search has shown, as a part of the file that counts as read.
import { countLines } from '../../core/files/editBudget.ts';
import { joinParts } from '../../core/files/seenPart.ts';
import { type ShownFile } from '../../core/ports/fileViews.ts';

/** Undefined if none was shown. */
export function shownLinesOf(
  { file, bytes, text }: Required<Pick<ShownFile, 'file' | 'bytes'>> & { readonly text: string },
  numbers: readonly number[],
): ShownFile | undefined {
  if (numbers.length === 0) return undefined;
  const ranges = numbers.map((number): [number, number] => [number, number]);
  const part = { ranges, of: countLines(text), searched: true as const };
  const joined = joinParts(part, part);
  return { file, bytes, ...(joined && { part: joined }) };
}
