// Decides how one event stands in the file: one line of JSON whose last field is the checksum of all before it.
import { crc32 } from 'node:zlib';
import { type LogEvent, type ParsedEvent, parseEvent } from '../protocol/event.ts';

const NAME = ',"crc":"';
const DIGITS = 8;
/** `,"crc":"0123abcd"}` */
const TAIL = NAME.length + DIGITS + 2;
const BRACE = Buffer.from('}');

export function printLine(event: LogEvent): string {
  const text = JSON.stringify(event);
  return `${text.slice(0, -1)}${NAME}${printChecksum(crc32(text))}"}\n`;
}

/** `line` without its line end. */
export function readLine(line: Uint8Array): ParsedEvent {
  const body = line.subarray(0, -TAIL);
  const tail = Buffer.from(line.buffer, line.byteOffset + body.length, line.length - body.length).toString('latin1');
  if (line.length <= TAIL || !tail.startsWith(NAME) || !tail.endsWith('"}')) {
    return { kind: 'invalid', reason: 'it does not end in a checksum' };
  }
  if (printChecksum(crc32(BRACE, crc32(body))) !== tail.slice(NAME.length, -2)) {
    return { kind: 'invalid', reason: 'its checksum does not fit' };
  }
  try {
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8');
    return parseEvent(JSON.parse(`${text}}`));
  } catch {
    return { kind: 'invalid', reason: 'it is not JSON' };
  }
}

function printChecksum(value: number): string {
  return value.toString(16).padStart(DIGITS, '0');
}
