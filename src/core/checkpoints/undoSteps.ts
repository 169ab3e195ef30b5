// Decides what a file is without the agent's changes of it: three-way, so that what others did since stays. Pure.
import { diff3Merge } from 'node-diff3';
import { byteLines, joinLines, sameBytes } from './byteLines.ts';

/** Absent: there was no such file. */
export interface StepBytes {
  readonly before?: Uint8Array | undefined;
  readonly after?: Uint8Array | undefined;
}

export type Undone =
  /** `merged`: it has changes of others, which stay. Without bytes there is no such file. */
  | { readonly type: 'clean'; readonly bytes?: Uint8Array; readonly merged: boolean }
  /** What others did since cannot be told apart from the agent's changes. */
  | { readonly type: 'clash' };

/** With more pairs of equal lines than these, finding the best match takes too long. */
const MOST_PAIRS = 5_000_000;
/** The search goes through the lines of one side for each line of the other. */
const MOST_STEPS = 50_000_000;

/** `steps` in the order in which they happened; they are taken back from the newest to the oldest. */
export function undoSteps(present: Uint8Array | undefined, steps: readonly StepBytes[]): Undone {
  let bytes = present;
  let merged = false;
  for (const { before, after } of steps.toReversed()) {
    if (sameBytes(bytes, after)) {
      bytes = before;
      continue;
    }
    // Somebody took it back already.
    if (sameBytes(bytes, before)) continue;
    const without = bytes && before && after && takeBack(bytes, after, before);
    if (without === undefined) return { type: 'clash' };
    bytes = without;
    merged = true;
  }
  return { type: 'clean', merged, ...(bytes !== undefined && { bytes }) };
}

/** `present` came from `after` by changes of others: those, made to `before`. Undefined if they touch the same lines. */
function takeBack(present: Uint8Array, after: Uint8Array, before: Uint8Array): Uint8Array | undefined {
  const all = [byteLines(present), byteLines(after), byteLines(before)];
  if (all.includes(undefined)) return undefined;
  const whole = all.map((lines) => lines ?? []);
  // What all three have in common at both ends need not be searched.
  const head = commonLength(whole, (lines, index) => lines[index]);
  const shorter = whole.map((lines) => lines.slice(head));
  const tail = commonLength(shorter, (lines, index) => lines[lines.length - 1 - index]);
  const [ours = [], base = [], theirs = []] = shorter.map((lines) => lines.slice(0, lines.length - tail));
  if (base.length * Math.max(ours.length, theirs.length) > MOST_STEPS) return undefined;
  if (pairs(ours, base) + pairs(theirs, base) > MOST_PAIRS) return undefined;
  const [first = []] = whole;
  const lines: string[] = first.slice(0, head);
  for (const region of diff3Merge(ours, base, theirs, { excludeFalseConflicts: true })) {
    if (region.ok === undefined) return undefined;
    for (const line of region.ok) lines.push(line);
  }
  for (const line of first.slice(first.length - tail)) lines.push(line);
  return joinLines(lines);
}

function commonLength(
  all: readonly (readonly string[])[],
  lineAt: (lines: readonly string[], index: number) => string | undefined,
): number {
  const [first = []] = all;
  const most = Math.min(...all.map(({ length }) => length));
  let length = 0;
  while (length < most && all.every((lines) => lineAt(lines, length) === lineAt(first, length))) length += 1;
  return length;
}

function pairs(one: readonly string[], other: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of one) counts.set(line, (counts.get(line) ?? 0) + 1);
  return other.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0);
}
