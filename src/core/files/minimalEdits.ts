// Computes the smallest edits that turn one text into another, so that cursors, folds and undo survive. Pure.
import { diffArrays } from 'diff';
import { mostEdits } from './editBudget.ts';

/** `start` and `end` are offsets into the old text. */
export interface TextReplacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** With more differences, everything between the first and the last one is replaced at once. */
const MOST_DIFFERENCES = 1000;

/** The edits are in order and do not touch each other. */
export function minimalEdits(before: string, after: string): readonly TextReplacement[] {
  if (before === after) return [];
  // Most lines are usually equal, so the diff runs only on what is between them.
  const head = sameLines(before, after);
  const tail = sameTail(before, after, head);
  const old = linesOf(before.slice(head, before.length - tail));
  const now = linesOf(after.slice(head, after.length - tail));
  const parts = diffArrays(old, now, { maxEditLength: mostEdits(old.length + now.length, MOST_DIFFERENCES) });
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

/** The length of the whole lines that both texts begin with. */
function sameLines(one: string, other: string): number {
  let start = 0;
  for (let end = one.indexOf('\n') + 1; end > 0; end = one.indexOf('\n', end) + 1) {
    if (!other.startsWith(one.slice(start, end), start)) return start;
    start = end;
  }
  return start;
}

/** The length of the whole lines that both texts end with, not counting those they begin with. */
function sameTail(one: string, other: string, head: number): number {
  let tail = 0;
  for (;;) {
    const start = one.lastIndexOf('\n', one.length - tail - 2) + 1;
    const line = one.slice(start, one.length - tail);
    const there = other.length - tail - line.length;
    // In the other text, too, a line break must precede the line.
    if (line === '' || start <= head || there <= head || !other.startsWith(line, there) || other[there - 1] !== '\n') {
      return tail;
    }
    tail += line.length;
  }
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** Leaves out equal text at both ends, without splitting a character or a line ending. */
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

/** Whether this offset is inside a line ending or a surrogate pair. */
function splits(text: string, at: number): boolean {
  const [left, right] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return (left === 13 && right === 10) || (left >= 0xd800 && left <= 0xdbff && right >= 0xdc00 && right <= 0xdfff);
}
