// Reads the last sequence number and the key of a log from the two ends of its file, without reading the middle.
import { FailureError } from '../base/errors.ts';
import { type LogEnd } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { checkLine, parseLine } from './line.ts';
import { readEvents } from './readEvents.ts';

const NEWLINE = 0x0a;
/** Bytes read from the end; longer than most lines. */
const TAIL = 64 * 1024;
/** Bytes read from the start; the first event, which has the key, is shorter. */
const HEAD = 4096;
/** A log up to this size is read completely. */
const WHOLE = 4 * TAIL;

export async function readLogEnd(files: FileSystem, path: string): Promise<LogEnd> {
  const stat = await files.stat(path);
  if (stat === undefined)
    throw new FailureError({ code: 'no_conversation', message: 'There is no such conversation.' });
  const lastActivity = stat.modified;
  const lastSeq = stat.size > WHOLE ? await readTail(files, path, stat.size) : undefined;
  const key = lastSeq === undefined ? '' : keyIn((await files.readFrom(path, 0, HEAD)) ?? new Uint8Array());
  if (lastSeq !== undefined && key !== '') return { lastSeq, key, lastActivity };
  const bytes = (await files.read(path)) ?? new Uint8Array();
  return { lastSeq: readEvents(bytes).nextSeq - 1, key: keyIn(bytes), lastActivity };
}

/** The number of the last line; undefined if it is damaged or longer than the tail. */
async function readTail(files: FileSystem, path: string, size: number): Promise<number | undefined> {
  const bytes = Buffer.from((await files.readFrom(path, size - TAIL)) ?? new Uint8Array());
  const end = bytes.lastIndexOf(NEWLINE);
  const start = end === -1 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1);
  if (start === -1) return undefined;
  const line = checkLine(bytes.subarray(start + 1, end));
  return line.kind === 'whole' ? line.seq : undefined;
}

/** The key is in the first event, also in a fork. */
function keyIn(input: Uint8Array): string {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.length);
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1) return '';
    const line = bytes.subarray(start, end);
    start = end + 1;
    if (checkLine(line).kind !== 'whole') continue;
    const parsed = parseLine(line);
    if (parsed.kind === 'event' && parsed.event.type === 'conversation_started') return parsed.event.key;
  }
  return '';
}
