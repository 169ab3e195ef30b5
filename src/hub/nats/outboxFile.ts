// Reads an author's message file in parts, for the outbox.
import { open } from 'node:fs/promises';
import { parseObject } from '../../base/json/outsideJson.ts';
import { type MessageRecord, messageRecord } from '../../protocol/hub.ts';

const NEWLINE = 0x0a;
const PART = 256 * 1024;

export interface OutboxItem {
  readonly record: MessageRecord;
  /** The line without its line break. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export interface OutboxPart {
  readonly items: readonly OutboxItem[];
  /** The offset up to which the file was read. */
  readonly read: number;
  /** The number of lines that are not valid records and were left out. */
  readonly damaged: number;
}

/** Reads the complete lines between two offsets, or as many of them as fit into one part. */
export async function readOutbox(path: string, from: number, to: number): Promise<OutboxPart> {
  for (let size = PART; ; size *= 4) {
    const bytes = await readRange(path, from, Math.min(size, to - from));
    const whole = bytes.lastIndexOf(NEWLINE) + 1;
    if (whole > 0) return parseLines(bytes.subarray(0, whole), from);
    // Without any line break, the rest of the file was cut off by another program.
    if (bytes.length < size) return { items: [], read: to, damaged: 0 };
  }
}

/** The number of lines between two offsets of the file. */
export async function countLines(path: string, from: number, to: number): Promise<number> {
  let count = 0;
  for (let at = from; at < to; ) {
    const bytes = await readRange(path, at, Math.min(PART, to - at));
    if (bytes.length === 0) break;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, end + 1)) count += 1;
    at += bytes.length;
  }
  return count;
}

function parseLines(bytes: Buffer, from: number): OutboxPart {
  const items: OutboxItem[] = [];
  let damaged = 0;
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start);
    const line = bytes.subarray(start, end);
    const record = messageRecord.safeParse(parseObject(line.toString('utf8')));
    if (record.success) items.push({ record: record.data, bytes: line, start: from + start, end: from + end + 1 });
    else damaged += 1;
    start = end + 1;
  }
  return { items, read: from + bytes.length, damaged };
}

async function readRange(path: string, from: number, length: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(length);
    let read = 0;
    while (read < length) {
      const { bytesRead } = await file.read(buffer, read, length - read, from + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return buffer.subarray(0, read);
  } finally {
    await file.close();
  }
}
