// Finds private keys of several lines: PEM, OpenSSH, PGP and PuTTY, complete or cut at either end.
import { type TextRange } from './tokenShapes.ts';

const MARKER = /-{4,5} ?(BEGIN|END) [A-Z\d ]{0,60}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;
const PUTTY = /^Private-Lines: \d+\r?\n/gm;
const PUTTY_END = /^Private-MAC: ?/gm;
/** The widths to which programs wrap keys. */
const WIDTHS: ReadonlySet<number> = new Set([64, 70]);
/** From this many lines on, lines of such a width count as the middle of a key. */
const FEWEST_LINES = 3;

/** In the order of the text, without overlaps. */
export function findKeyBlocks(text: string): TextRange[] {
  const blocks = [...betweenMarkers(text), ...puttyLines(text), ...middles(text)];
  const sorted = blocks.sort((a, b) => a.start - b.start || b.end - a.end);
  let done = -1;
  return sorted.filter(({ start, end }) => {
    if (start < done) return false;
    done = end;
    return true;
  });
}

function* betweenMarkers(text: string): Generator<TextRange> {
  let [open, done]: [number | undefined, number] = [undefined, 0];
  for (const { 0: marker, 1: kind, index } of text.matchAll(MARKER)) {
    const end = index + marker.length;
    if (kind === 'BEGIN') open ??= index;
    else {
      yield { start: open ?? startOfBody(text, index, done), end };
      [open, done] = [undefined, end];
    }
  }
  if (open !== undefined) yield { start: open, end: text.length };
}

/** Where the lines of a key begin whose first line is missing. */
function startOfBody(text: string, marker: number, least: number): number {
  let start = marker;
  // `\n` may be written as two characters.
  while (start > least && /[\w+/=\\]/.test(text.charAt(start - 1))) start -= 1;
  for (let fewest = 1; start > least && text.charAt(start - 1) === '\n'; fewest = 16) {
    const before = Math.max(least, text.lastIndexOf('\n', start - 2) + 1);
    const line = text.slice(before, start - 1);
    if (line.length > 200 || !/^[\w+/=|>-]+$/.test(line.trim()) || line.trim().length < fewest) break;
    start = before;
  }
  return start;
}

function* puttyLines(text: string): Generator<TextRange> {
  for (const { 0: head, index } of text.matchAll(PUTTY)) {
    const start = index + head.length;
    PUTTY_END.lastIndex = start;
    const close = PUTTY_END.exec(text);
    const line = close === null ? -1 : text.indexOf('\n', close.index);
    yield { start, end: line === -1 ? text.length : line };
    if (close === null) return;
  }
}

/** Wrapped lines without a first or last line. Public keys and certificates have theirs. */
function* middles(text: string): Generator<TextRange> {
  let [at, start, count, width] = [0, 0, 0, 0];
  let isPublic = false;
  for (const line of text.split('\n')) {
    const body = line.trim();
    if (body.startsWith('-----')) isPublic = body.startsWith('-----BEGIN');
    const fits = !isPublic && WIDTHS.has(body.length) && /^[A-Za-z\d+/]+$/.test(body) && !/^[\da-fA-F]+$/.test(body);
    if (fits && (count === 0 || body.length === width)) {
      if (count === 0) [start, width] = [at, body.length];
      count += 1;
    } else {
      if (count >= FEWEST_LINES) yield { start, end: at - 1 };
      count = 0;
    }
    at += line.length + 1;
  }
  if (count >= FEWEST_LINES) yield { start, end: text.length };
}
