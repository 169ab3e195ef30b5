// Encodes an event as one line of JSON whose last field is the checksum of everything before it.
import { crc32 } from '../node/crc32.ts';
import { type ParsedEvent, readWritten } from '../protocol/event.ts';

const NAME = ',"crc":"';
const DIGITS = 8;
/** `,"crc":"0123abcd"}` */
const TAIL = NAME.length + DIGITS + 2;
const CLOSING = 0x7d;
const COMMA = 0x2c;
const BRACE = Buffer.of(CLOSING);

/** The text that replaces the closing brace of an event's JSON: checksum, brace and line end. */
export function endOfLine(json: string): string {
  return `${NAME}${printChecksum(crc32(json))}"}\n`;
}

export type CheckedLine =
  | { readonly kind: 'whole'; readonly seq: number }
  | { readonly kind: 'invalid'; readonly reason: string };

/** The beginning of every line. */
const HEAD = /^\{"v":[1-9]\d{0,8},"seq":([1-9]\d{0,14}),/;
const HEAD_LENGTH = 48;

/**
 * `line` is without its line end. A correct checksum means that an append validated and wrote these bytes; whether they
 * are an event is checked when they are parsed.
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

/** Whether these bytes end with a checksum, even if the newline is damaged. */
export function hasLineEnd(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.subarray(-(TAIL + 1))).toString('latin1');
  return text.includes(NAME) && text.includes('"}');
}

/** Parses a checked line. It may still be invalid, since a checksum can be right by chance or forged. */
export function parseLine(line: Buffer): ParsedEvent {
  try {
    return readWritten(JSON.parse(bodyOf(line)));
  } catch {
    return { kind: 'invalid', reason: 'it is not JSON' };
  }
}

/** Temporarily restores the brace that the checksum replaced, which avoids copying the line. */
function bodyOf(line: Buffer): string {
  const end = line.length - TAIL;
  line[end] = CLOSING;
  const text = line.toString('utf8', 0, end + 1);
  line[end] = COMMA;
  return text;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Uses a table, since `toString(16)` takes as long as the checksum itself. */
function printChecksum(value: number): string {
  const byte = (shift: number) => HEX[(value >>> shift) & 0xff] ?? '';
  return byte(24) + byte(16) + byte(8) + byte(0);
}
