// Computes a file without the agent's changes, with a three-way merge, so that later changes of others stay. Pure.
import { diff3Merge } from 'node-diff3';
import { type EntryKind } from '../../protocol/event.ts';
import { byteLines, joinLines, sameBytes } from './byteLines.ts';

/** One step with its bytes; absent: there was no such file. The kinds are those of the event. */
export interface StepBytes {
  readonly before?: Uint8Array | undefined;
  readonly after?: Uint8Array | undefined;
  readonly beforeKind?: EntryKind | undefined;
  readonly afterKind?: EntryKind | undefined;
  readonly beforeMode?: number | undefined;
  readonly afterMode?: number | undefined;
}

/** The present entry. `isLink`: the bytes are a link's target. */
export interface Present {
  readonly bytes: Uint8Array;
  readonly isLink: boolean;
  /** Its permission bits, if they are known. */
  readonly mode?: number | undefined;
}

export type Undone =
  /**
   * `merged`: the file has changes of others, which stay. Without `bytes` there is no such file. Without `executable`
   * that bit stays as it is, and without `mode` all permission bits do.
   */
  | {
      readonly type: 'clean';
      readonly bytes?: Uint8Array;
      readonly isLink: boolean;
      readonly executable?: boolean;
      readonly mode?: number;
      readonly merged: boolean;
    }
  /** Later changes of others cannot be separated from the agent's. */
  | { readonly type: 'clash' };

/** With more pairs of equal lines, finding the best match would take too long. */
const MOST_PAIRS = 5_000_000;
/** Limits the product of line counts, since the search compares each line of one side with those of the other. */
const MOST_STEPS = 50_000_000;

/** `steps` in the order in which they happened; they are undone from the newest to the oldest. */
export function undoSteps(present: Present | undefined, steps: readonly StepBytes[]): Undone {
  let state = present;
  let merged = false;
  let executable: boolean | undefined;
  let mode: number | undefined;
  for (const step of steps.toReversed()) {
    const before = sideOf(step.before, step.beforeKind);
    const after = sideOf(step.after, step.afterKind);
    // The executable bit is undone independently of the bytes.
    if (step.beforeKind === 'executable') executable = true;
    else if (step.afterKind === 'executable' && before !== undefined) executable = false;
    // The permissions too, unless somebody else has changed them since.
    const present = mode ?? state?.mode;
    if (step.beforeMode !== undefined && (present === undefined || present === step.afterMode)) mode = step.beforeMode;
    if (isSameFile(state, after)) {
      state = before;
      continue;
    }
    // Somebody has already reverted the step.
    if (isSameFile(state, before)) continue;
    if (state === undefined || before === undefined || after === undefined) return { type: 'clash' };
    if (state.isLink || before.isLink || after.isLink) return { type: 'clash' };
    const without = withoutStep(state.bytes, after.bytes, before.bytes);
    if (without === undefined) return { type: 'clash' };
    state = { bytes: without, isLink: false };
    merged = true;
  }
  if (state === undefined) return { type: 'clean', merged, isLink: false };
  const { bytes, isLink } = state;
  if (isLink) return { type: 'clean', merged, bytes, isLink };
  const bits = { ...(executable !== undefined && { executable }), ...(mode !== undefined && { mode }) };
  return { type: 'clean', merged, bytes, isLink, ...bits };
}

function sideOf(bytes: Uint8Array | undefined, kind: EntryKind | undefined): Present | undefined {
  return bytes && { bytes, isLink: kind === 'link' };
}

function isSameFile(one: Present | undefined, other: Present | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.isLink === other.isLink && sameBytes(one.bytes, other.bytes);
}

/** Others turned `after` into `present`: applies their changes to `before`. Undefined if they touch the same lines. */
function withoutStep(present: Uint8Array, after: Uint8Array, before: Uint8Array): Uint8Array | undefined {
  const all = [byteLines(present), byteLines(after), byteLines(before)];
  if (all.includes(undefined)) return undefined;
  const whole = all.map((lines) => lines ?? []);
  // Equal lines at the beginning and end of all three need not be searched.
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
