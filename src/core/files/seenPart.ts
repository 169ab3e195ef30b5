// Joins the shown parts of a file, which must be parts of the same bytes. Pure.
import { type SeenPart } from '../../protocol/event.ts';
import { type FileFreshness } from '../../protocol/page/freshnessView.ts';

/** Only what an edit or a diff showed of the bytes. */
export const SHOWN_IN_PART: SeenPart = { ranges: [], of: 0 };

/** The union of both; undefined once every line was shown. It counts as searched only if both do. */
export function joinParts(one: SeenPart, other: SeenPart): SeenPart | undefined {
  const of = Math.max(one.of, other.of);
  const ranges: [number, number][] = [];
  for (const [first, last] of [...one.ranges, ...other.ranges].sort(([a], [b]) => a - b)) {
    const before = ranges.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else ranges.push([first, last]);
  }
  const [only] = ranges;
  const whole = ranges.length === 1 && only !== undefined && only[0] <= 1 && only[1] >= of;
  const searched = one.searched === true && other.searched === true;
  return whole ? undefined : { ranges, of, ...(searched && { searched }) };
}

/** Such as `only lines 1–40, 90–99 of 120`. */
export function printPart({ ranges, of }: SeenPart): string {
  return ranges.length === 0 ? 'only small parts' : `only lines ${printRanges(ranges)} of ${of}`;
}

/** Such as `1–40, 99`. */
export function printRanges(ranges: SeenPart['ranges'] | FileFreshness['lines'] = []): string {
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ');
}
