// Computes a file without the agent's changes, with a three-way merge, so that later changes of others stay. Pure.
import { sameBytes } from '../../base/encodings.ts';
import { defined } from '../../base/json/defined.ts';
import { type EntryKind } from '../../protocol/event.ts';
import { byteLines, joinLines, lineEndOf } from './byteLines.ts';
import { type Hunk, hunksBetween } from './hunks.ts';

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
  /**
   * Others have changed the very lines that the agent changed. `bytes`, if they can be computed, are the file without
   * the agent's lines: only for display.
   */
  | { readonly type: 'clash'; readonly bytes?: Uint8Array };

const nothing = new Uint8Array();

/** `steps` in the order in which they happened; they are undone from the newest to the oldest. */
export function undoSteps(present: Present | undefined, steps: readonly StepBytes[]): Undone {
  let state = present;
  let merged = false;
  let clashes = false;
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
    if (state === undefined || after === undefined) return { type: 'clash' };
    if (state.isLink || before?.isLink === true || after.isLink) return { type: 'clash' };
    const without = withoutStep(state.bytes, after.bytes, before?.bytes ?? nothing);
    if (without === undefined) return { type: 'clash' };
    // Of a file that the agent created, the lines of others stay; without such lines it did not exist.
    const isGone = before === undefined && without.bytes.length === 0;
    state = isGone ? undefined : { bytes: without.bytes, isLink: false };
    clashes ||= without.clashes;
    merged = true;
  }
  if (clashes) return { type: 'clash', ...(state && { bytes: state.bytes }) };
  if (state === undefined) return { type: 'clean', merged, isLink: false };
  const { bytes, isLink } = state;
  if (isLink) return { type: 'clean', merged, bytes, isLink };
  const bits = defined({ executable, mode });
  return { type: 'clean', merged, bytes, isLink, ...bits };
}

function sideOf(bytes: Uint8Array | undefined, kind: EntryKind | undefined): Present | undefined {
  return bytes && { bytes, isLink: kind === 'link' };
}

function isSameFile(one: Present | undefined, other: Present | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.isLink === other.isLink && sameBytes(one.bytes, other.bytes);
}

interface Without {
  /** The file with the lines that the change removed, without those that it added, and with all lines of others. */
  readonly bytes: Uint8Array;
  /** Others changed the very same lines, so that the bytes mix two versions of them. */
  readonly clashes: boolean;
}

/**
 * The agent turned `before` into `after`, and others turned that into `present`. Lines of others stay, also directly
 * next to the agent's and between them. Undefined if the content is not text, or too different to compare.
 */
function withoutStep(present: Uint8Array, after: Uint8Array, before: Uint8Array): Without | undefined {
  const end = endOf(present);
  const [now, middle, old] = [present, after, before].map((bytes) => endedLines(bytes, end));
  if (now === undefined || middle === undefined || old === undefined) return undefined;
  const others = hunksBetween(middle.lines, now.lines);
  const back = hunksBetween(middle.lines, old.lines);
  if (others === undefined || back === undefined) return undefined;
  const lines: string[] = [];
  /** The hunk of others that the last line so far belongs to. */
  let lastOf: Hunk | undefined;
  let [next, nextBack] = [0, 0];
  let [keptFrom, keptFromBack] = [0, 0];
  for (let at = 0; at <= middle.lines.length; at += 1) {
    const [hunk, own] = [others[next], back[nextBack]];
    const atHunk = hunk?.oldStart === at ? hunk : undefined;
    const atOwn = own?.oldStart === at ? own : undefined;
    const hasReverted = atHunk !== undefined && atOwn !== undefined && isSameHunk(atHunk, atOwn);
    // What others inserted above the agent's lines stays above; lines that the agent removed have their old place.
    const isAbove = atOwn !== undefined && atOwn.removed.length > 0;
    const returned = hasReverted ? [] : (atOwn?.added ?? []);
    for (const part of isAbove ? [atHunk?.added ?? [], returned] : [returned, atHunk?.added ?? []]) {
      for (const line of part) lines.push(line);
      if (part.length > 0) lastOf = part === atHunk?.added ? atHunk : undefined;
    }
    if (atHunk !== undefined) [next, keptFrom] = [next + 1, at + atHunk.removed.length];
    if (atOwn !== undefined) [nextBack, keptFromBack] = [nextBack + 1, at + atOwn.removed.length];
    const line = middle.lines[at];
    if (line === undefined || at < keptFrom || at < keptFromBack) continue;
    lines.push(line);
    lastOf = undefined;
  }
  const isLast = lastOf === undefined || lastOf.start + lastOf.added.length === now.lines.length;
  const isOpen = lastOf !== undefined || now.isOpen !== middle.isOpen ? now.isOpen && isLast : old.isOpen;
  const last = isOpen ? lines.pop() : undefined;
  if (last !== undefined) lines.push(last.endsWith(end) && last !== end ? last.slice(0, -end.length) : last);
  return { bytes: joinLines(lines), clashes: haveClash(others, back) };
}

/** Both lists are in order, so each hunk is compared only with those that it may touch. */
function haveClash(others: readonly Hunk[], back: readonly Hunk[]): boolean {
  let first = 0;
  return others.some((hunk) => {
    while (first < back.length && endIn(back[first]) < hunk.oldStart) first += 1;
    for (let index = first; index < back.length; index += 1) {
      const own = back[index];
      if (own === undefined || own.oldStart > endIn(hunk)) return false;
      if (isClash(hunk, own)) return true;
    }
    return false;
  });
}

/** `own` turns the agent's lines back into the earlier ones, from the same lines as `hunk`. */
function isClash(hunk: Hunk, own: Hunk): boolean {
  if (isSameHunk(hunk, own)) return false;
  if (hunk.removed.length === 0) {
    // Somebody has inserted again what the agent removed: with the undo, it would be there twice.
    const again = new Set(own.added.filter((line) => line.trim() !== ''));
    return hunk.added.some((line) => again.has(line));
  }
  const isApart = endIn(hunk) <= own.oldStart || endIn(own) <= hunk.oldStart;
  // Lines that the agent added and others removed are gone either way.
  return !isApart && hunk.added.length + own.added.length > 0;
}

function isSameHunk(one: Hunk, other: Hunk): boolean {
  if (one.oldStart !== other.oldStart || one.removed.length !== other.removed.length) return false;
  return one.added.length === other.added.length && one.added.every((line, index) => line === other.added[index]);
}

function endIn(hunk: Hunk | undefined): number {
  return hunk === undefined ? 0 : hunk.oldStart + hunk.removed.length;
}

/** The line end of a file. */
function endOf(bytes: Uint8Array): string {
  const end = lineEndOf(bytes);
  const back = end.replace('\n', '\r');
  const [first = ''] = byteLines(bytes) ?? [];
  return first.endsWith(`${back}${end}`) ? `${back}${end}` : end;
}

/**
 * The lines, each with its end. A last line without end would be another one as soon as somebody adds a line below it.
 */
function endedLines(bytes: Uint8Array, end: string): { lines: readonly string[]; isOpen: boolean } | undefined {
  const lines = byteLines(bytes);
  const last = lines?.at(-1);
  if (lines === undefined || last === undefined || last.endsWith(lineEndOf(bytes))) {
    return lines && { lines, isOpen: false };
  }
  return { lines: lines.with(-1, `${last}${end}`), isOpen: true };
}
