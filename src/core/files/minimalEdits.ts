// Computes the smallest edits that turn one text into another, so that cursors, folds and undo survive. Pure.
import { diffArrays } from 'diff';
import { mostEdits } from './editBudget.ts';

/** `start` and `end` are offsets into the old text. */
export interface TextReplacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Beyond this, one replacement of all between the first and the last difference is as good. */
const MOST_DIFFERENCES = 1000;

/** In order, none touching another. */
export function minimalEdits(before: string, after: string): readonly TextReplacement[] {
  if (before === after) return [];
  // Usually nearly all of it is the same.
  const head = sameLines(before, after);
  const tail = sameTail(before, after, head);
  const old = linesOf(before.slice(head, before.length - tail));
  const now = linesOf(after.slice(head, after.length - tail));
  const parts = diffArrays(old, now, { maxEditLength: mostEdits(old.length + now.length, MOST_DIFFERENCES) });
  // More differences than allowed.
  if (parts === undefined) {
    return [narrowed(before, { start: head, end: before.length - tail, text: now.join('') })];
  }
  const edits: TextReplacement[] = [];
  let offset = head;
  let open: TextReplacement | undefined;
  for (const part of parts) {
    const text = part.value.join('');
    if (!part.added && !part.removed) {
      if (open !== undefined) edits.push(narrowed(before, open));
      open = undefined;
      offset += text.length;
    } else {
      open ??= { start: offset, end: offset, text: '' };
      if (part.removed) {
        offset += text.length;
        open = { ...open, end: offset };
      } else {
        open = { ...open, text: open.text + text };
      }
    }
  }
  if (open !== undefined) edits.push(narrowed(before, open));
  return edits;
}

/** How long the whole lines are with which both begin. */
function sameLines(one: string, other: string): number {
  let start = 0;
  for (let end = one.indexOf('\n') + 1; end > 0; end = one.indexOf('\n', end) + 1) {
    if (!other.startsWith(one.slice(start, end), start)) return start;
    start = end;
  }
  return start;
}

/** How long the whole lines are with which both end, after what they begin with. */
function sameTail(one: string, other: string, head: number): number {
  let tail = 0;
  for (;;) {
    const start = one.lastIndexOf('\n', one.length - tail - 2) + 1;
    const line = one.slice(start, one.length - tail);
    const there = other.length - tail - line.length;
    // A line of its own in both: the other one, too, has a line break before it.
    if (line === '' || start <= head || there <= head || !other.startsWith(line, there) || other[there - 1] !== '\n') {
      return tail;
    }
    tail += line.length;
  }
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** Without what is the same at both ends; never half a character or half a line ending. */
function narrowed(before: string, { start, end, text }: TextReplacement): TextReplacement {
  const old = before.slice(start, end);
  const most = Math.min(old.length, text.length);
  let head = 0;
  while (head < most && old[head] === text[head]) head += 1;
  while (head > 0 && (splits(old, head) || splits(text, head))) head -= 1;
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === text[text.length - 1 - tail]) tail += 1;
  while (tail > 0 && (splits(old, old.length - tail) || splits(text, text.length - tail))) tail -= 1;
  return { start: start + head, end: end - tail, text: text.slice(head, text.length - tail) };
}

/** A line ending, or a character of two units, lies across this place. */
function splits(text: string, at: number): boolean {
  const [left, right] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return (left === 13 && right === 10) || (left >= 0xd800 && left <= 0xdbff && right >= 0xdc00 && right <= 0xdfff);
}
