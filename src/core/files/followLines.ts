// Follows lines of a text through a change of the text: whether they were changed, and where they are now. Pure.
import { structuredPatch } from 'diff';
import { countLines, mostEdits } from './editBudget.ts';

const MOST_EDITS = 2000;

type Ranges = readonly (readonly [first: number, last: number])[];

export interface FollowedLines {
  /** The changes of these lines, as a diff; empty if there are none. */
  readonly changes: string;
  /** Where those lines are now that did not change. */
  readonly ranges: [number, number][];
}

/** Lines are counted from 1. Undefined if there is too much to compare. */
export function followLines(before: string, after: string, ranges: Ranges): FollowedLines | undefined {
  const [old, now] = [before, after].map((text) => text.replaceAll('\r\n', '\n')) as [string, string];
  const maxEditLength = mostEdits(countLines(old) + countLines(now), MOST_EDITS);
  const patch = structuredPatch('', '', old, now, '', '', { context: 0, maxEditLength });
  if (patch === undefined) return undefined;
  const touched = new Set<(typeof patch.hunks)[number]>();
  const kept = ranges.flatMap(([first, last]): [number, number][] => {
    let shift = 0;
    let isChanged = false;
    for (const hunk of patch.hunks) {
      const end = hunk.oldStart + hunk.oldLines;
      // Lines that were inserted between two of these lines change them, too.
      const overlaps = hunk.oldLines > 0 ? hunk.oldStart <= last && end > first : hunk.oldStart > first && end <= last;
      if (overlaps) touched.add(hunk);
      isChanged ||= overlaps;
      if (end <= first) shift += hunk.newLines - hunk.oldLines;
    }
    return isChanged ? [] : [[first + shift, last + shift]];
  });
  return { changes: [...touched].flatMap(({ lines }) => lines).join('\n'), ranges: kept };
}
