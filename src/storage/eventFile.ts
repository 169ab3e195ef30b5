// Decides how a log is kept on disk: one append-only file, syncs shared by all who wait, damage cut off or stepped over.
import { describeError, type Failure, FailureError } from '../base/errors.ts';
import { type EventFile, type Log, type OpenedLog } from '../core/ports.ts';
import { type AppendFile, type FileSystem } from '../node/fileSystem.ts';
import { type LogEvent } from '../protocol/event.ts';
import { printLine, readLine } from './line.ts';

const NEWLINE = 0x0a;

/** Reads the log, mends its end, and opens it for appending. Throws what the file system throws. */
export async function openEventFile(files: FileSystem, path: string, log: Log): Promise<OpenedLog> {
  const bytes = (await files.read(path)) ?? new Uint8Array();
  const read = readEvents(bytes);
  const damage: Failure[] = [...read.damage];
  const file = await files.openForAppend(path);
  if (read.length < bytes.length) {
    const kept = `${path}.torn-${read.length}`;
    await files.writeWhole(kept, bytes.subarray(read.length));
    await file.truncate(read.length);
    await file.sync();
    log.warn(`the last line of ${path} was torn; its ${bytes.length - read.length} bytes are kept in ${kept}`);
  }
  for (const failure of damage) log.error(failure.message);
  return { file: new GroupCommitFile(file, read.length, log), events: read.events, nextSeq: read.nextSeq, damage };
}

interface ReadEvents {
  readonly events: LogEvent[];
  readonly nextSeq: number;
  readonly damage: Failure[];
  /** Bytes up to the end of the last whole line. */
  readonly length: number;
}

/** A broken last line was never acknowledged and is cut; a broken one in the middle is stepped over and told. */
function readEvents(bytes: Uint8Array): ReadEvents {
  const events: LogEvent[] = [];
  const broken: { number: number; reason: string; end: number }[] = [];
  let lastSeq = 0;
  let start = 0;
  let number = 0;
  let goodEnd = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    number += 1;
    const line = readLine(bytes.subarray(start, end));
    start = end + 1;
    if (line.kind === 'invalid') {
      broken.push({ number, reason: line.reason, end: start });
      continue;
    }
    goodEnd = start;
    lastSeq = Math.max(lastSeq, line.kind === 'event' ? line.event.seq : line.seq);
    if (line.kind === 'event') events.push(line.event);
  }
  // Bytes are written in one piece and in order: whatever is broken behind the last good line was torn by a crash.
  const damage = broken
    .filter((line) => line.end <= goodEnd)
    .map(({ number: line, reason }) => ({
      code: 'log_damaged',
      message: `Line ${line} of this conversation’s log is damaged (${reason}) and was left out; the rest is here.`,
      nextStep: 'The damaged line stays in the file as it is. You can go on writing.',
    }));
  return { events, nextSeq: lastSeq + 1, damage, length: goodEnd };
}

interface Waiting {
  readonly line: string;
  resolve(): void;
  reject(error: FailureError): void;
}

/** Appends that arrive while a sync is under way share the next one. */
class GroupCommitFile implements EventFile {
  readonly #file: AppendFile;
  readonly #log: Log;
  #waiting: Waiting[] = [];
  #committing: Promise<void> | undefined;
  #durableLength: number;
  #broken: FailureError | undefined;
  #closed = false;

  constructor(file: AppendFile, length: number, log: Log) {
    this.#file = file;
    this.#durableLength = length;
    this.#log = log;
  }

  append(event: LogEvent): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    if (this.#closed) return Promise.reject(new FailureError({ code: 'closed', message: 'The log was closed.' }));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ line: printLine(event), resolve, reject });
    this.#committing ??= this.#commit();
    return promise;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#committing;
    await this.#file.close();
  }

  async #commit(): Promise<void> {
    // Whoever appends in the same breath is in the first group already.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      const bytes = Buffer.from(group.map((waiting) => waiting.line).join(''));
      try {
        await this.#file.append(bytes);
        await this.#file.sync();
        this.#durableLength += bytes.length;
        for (const waiting of group) waiting.resolve();
      } catch (error) {
        await this.#fail(error, [...group, ...this.#waiting]);
      }
    }
    this.#committing = undefined;
  }

  /**
   * After a failed write nothing more is written: later events may depend on the lost ones. Half-written bytes are taken
   * back, so that what was not acknowledged does not come back at the next opening.
   */
  async #fail(error: unknown, lost: readonly Waiting[]): Promise<void> {
    this.#waiting = [];
    const broken = storageError(describeError(error));
    this.#broken = broken;
    try {
      await this.#file.truncate(this.#durableLength);
    } catch (second) {
      this.#log.error('half-written bytes could not be taken back', second);
    }
    for (const waiting of lost) waiting.reject(broken);
  }
}

export function storageError(reason: string): FailureError {
  return new FailureError({
    code: 'storage',
    message: `The conversation’s log cannot be written: ${reason}.`,
    nextStep: 'Free disk space or mend the folder’s rights, then reload the window. Nothing that is on disk is lost.',
  });
}
