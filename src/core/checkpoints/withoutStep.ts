// Removes the lines of one change of the agent from a file in which others have changed lines since. Pure.
import { byteLines, joinLines, lineEndOf } from './byteLines.ts';
import { type Hunk, hunksBetween } from './hunks.ts';

export interface Without {
  /** The file with the lines that the change removed, without those that it added, and with all lines of others. */
  readonly bytes: Uint8Array;
  /** Others changed the very same lines, so that the bytes mix two versions of them. */
  readonly clashes: boolean;
}

/**
 * The agent turned `before` into `after`, and others turned that into `present`. Lines of others stay, also directly
 * next to the agent's and between them. Undefined if the content is not text, or too different to compare.
 */
export function withoutStep(present: Uint8Array, after: Uint8Array, before: Uint8Array): Without | undefined {
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
