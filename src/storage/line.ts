// Decides how one event stands in the file: one line of JSON whose last field is the checksum of all before it.
import { crc32 } from 'node:zlib';
import { type LogEvent, readWritten } from '../protocol/event.ts';

const NAME = ',"crc":"';
const DIGITS = 8;
/** `,"crc":"0123abcd"}` */
const TAIL = NAME.length + DIGITS + 2;
const CLOSING = 0x7d;
const COMMA = 0x2c;
const BRACE = Buffer.of(CLOSING);

/** With its line end. A text, so that a whole group of lines is encoded at once. */
export function printLine(event: LogEvent): string {
  const text = JSON.stringify(event);
  // In place of the closing brace, which stands again behind it.
  return `${text.slice(0, -1)}${NAME}${printChecksum(crc32(text))}"}\n`;
}

export type CheckedLine =
  | { readonly kind: 'whole'; readonly seq: number }
  | { readonly kind: 'invalid'; readonly reason: string };

/** How every line of ours begins, whatever else is in it. */
const HEAD = /^\{"v":[1-9]\d{0,8},"seq":([1-9]\d{0,14}),/;
const HEAD_LENGTH = 48;

/**
 * `line` without its line end. The checksum proves that these bytes were written by an append, which validates: so they
 * are not validated again, which would cost more than everything else about opening a log.
 */
export function checkLine(line: Buffer): CheckedLine {
  const end = line.length - TAIL;
  const tail = end <= 0 ? '' : line.toString('latin1', end);
  if (!tail.startsWith(NAME) || !tail.endsWith('"}')) {
    return { kind: 'invalid', reason: 'it does not end in a checksum' };
  }
  if (crc32(BRACE, crc32(line.subarray(0, end))) !== Number.parseInt(tail.slice(NAME.length, -2), 16)) {
    return { kind: 'invalid', reason: 'its checksum does not fit' };
  }
  const head = HEAD.exec(line.toString('latin1', 0, Math.min(end, HEAD_LENGTH)));
  if (head !== null) return { kind: 'whole', seq: Number(head[1]) };
  return { kind: 'invalid', reason: 'it has no version and number where they belong' };
}

/** Of a line that was checked; undefined for what a newer Earshot wrote. */
export function parseLine(line: Buffer): LogEvent | undefined {
  try {
    const parsed = readWritten(JSON.parse(bodyOf(line)));
    return parsed.kind === 'event' ? parsed.event : undefined;
  } catch {
    // A checksum can fit by chance, or by somebody's will.
    return undefined;
  }
}

/** The brace that the checksum took the place of is put back for a moment: joining texts would copy every line once more. */
function bodyOf(line: Buffer): string {
  const end = line.length - TAIL;
  line[end] = CLOSING;
  const text = line.toString('utf8', 0, end + 1);
  line[end] = COMMA;
  return text;
}

function printChecksum(value: number): string {
  return value.toString(16).padStart(DIGITS, '0');
}
