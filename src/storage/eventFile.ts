// The log on disk: an append-only file with group commit. A torn end is cut off and kept in another file.
import { basename, dirname, join } from 'node:path';
import { type Failure, FailureError } from '../base/errors.ts';
import { type StorageCode } from '../base/failureCodes.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type EventFile, type OpenedLog, type ReadLog, type ListedFacts } from '../core/ports/storage.ts';
import { type AppendFile, type FileSystem } from '../node/files/fileSystem.ts';
import { type LogEvent } from '../protocol/event.ts';
import { hasLineEnd } from './line.ts';
import { LineBuffer } from './lineBuffer.ts';
import { PartialFile } from './partialFile.ts';
import { readEvents } from './readEvents.ts';
import { storageError } from './storageError.ts';
import { TitleFile } from './titleFile.ts';

const NEWLINE = 0x0a;

export interface EventFileDeps {
  readonly files: FileSystem;
  readonly path: string;
  readonly logger: Logger;
}

/** Reads the log, repairs its end and opens it for appending. For the owner only. Throws errors of the file system. */
export async function openEventFile(deps: EventFileDeps): Promise<OpenedLog> {
  const { files, path, logger } = deps;
  const bytes = (await files.read(path)) ?? new Uint8Array();
  const read = readEvents(bytes);
  const { damage } = read;
  const torn = bytes.subarray(read.length);
  // A partial line was never acknowledged; whole lines may have been, so their loss is reported.
  const hasWholeLines = torn.includes(NEWLINE);
  const endLost = hasWholeLines || hasLineEnd(torn);
  const file = await files.openForAppend(path);
  try {
    if (torn.length > 0) {
      const kept = await keepTorn(files, path, torn);
      await file.truncate(read.length);
      await file.sync();
      logger.warn(`the end of ${path} was torn; its ${torn.length} bytes are kept in ${kept}`);
      if (hasWholeLines) damage.push(tornLines(read.length === 0, basename(kept)));
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  for (const failure of damage) logger.error(failure.message);
  const opened = new GroupCommitFile(deps, file, read.length);
  return {
    file: opened,
    events: read.events,
    nextSeq: read.nextSeq,
    damage,
    ...(endLost && { endLost: true as const }),
  };
}

/** Stores the torn bytes next to the log, under an unused name. */
async function keepTorn(files: FileSystem, path: string, torn: Uint8Array): Promise<string> {
  const prefix = `${basename(path)}.torn-`;
  const numbers = (await files.list(dirname(path)))
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number.parseInt(name.slice(prefix.length), 10) || 0);
  const kept = join(dirname(path), `${prefix}${Math.max(0, ...numbers) + 1}`);
  await files.writeWhole(kept, torn);
  return kept;
}

function tornLines(everything: boolean, kept: string): Failure<StorageCode> {
  return {
    code: 'log_damaged',
    message: everything
      ? 'This conversation’s log cannot be read at all, so the conversation starts empty.'
      : 'The end of this conversation’s log is damaged and was removed; the rest is intact.',
    nextStep: `The damaged bytes are kept next to the log as ${kept}. You can continue the conversation.`,
  };
}

/** Lines that are written and synced together; their appends share one promise. */
class Group {
  readonly lines: LineBuffer;
  readonly #settled = Promise.withResolvers<void>();

  constructor(lines: LineBuffer) {
    this.lines = lines;
  }

  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  resolve(): void {
    this.#settled.resolve();
  }

  reject(error: FailureError): void {
    this.#settled.reject(error);
  }
}

/** Appends that arrive during a sync share the next one. */
class GroupCommitFile implements EventFile {
  readonly #deps: EventFileDeps;
  readonly #title: TitleFile;
  readonly partial: PartialFile;
  #file: AppendFile;
  #waiting: Group | undefined;
  /** Buffers of finished groups. At most two are in use: one being written and one waiting. */
  readonly #spare: LineBuffer[] = [];
  #committing: Promise<void> | undefined;
  #repairing: Promise<ReadLog> | undefined;
  #durableLength: number;
  /** The bytes of the last write attempt. */
  #attempt: Uint8Array = new Uint8Array();
  #broken: FailureError | undefined;
  #closed = false;

  constructor(deps: EventFileDeps, file: AppendFile, length: number) {
    this.#deps = deps;
    this.#title = new TitleFile(deps.files, dirname(deps.path), deps.logger);
    this.partial = new PartialFile(deps.files, dirname(deps.path), deps.logger);
    this.#file = file;
    this.#durableLength = length;
  }

  append(event: LogEvent): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    if (this.#closed) return Promise.reject(closedError());
    this.#waiting ??= new Group(this.#spare.pop() ?? new LineBuffer());
    this.#waiting.lines.add(event);
    this.#committing ??= this.#commit();
    return this.#waiting.settled;
  }

  async repair(): Promise<ReadLog> {
    await this.#committing;
    if (this.#closed) throw closedError();
    const repairing = this.#removePartialWrite();
    this.#repairing = repairing;
    try {
      return await repairing;
    } catch (error) {
      this.#broken = storageError(error);
      throw this.#broken;
    }
  }

  titled(title: string, facts?: ListedFacts): void {
    this.#title.set(title, facts);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#committing;
    await this.#repairing?.catch(() => undefined);
    await this.#file.close();
    await Promise.all([this.#title.settled(), this.partial.settled()]);
  }

  async #commit(): Promise<void> {
    // Appends of the same tick join the first group.
    await Promise.resolve();
    while (this.#waiting !== undefined) {
      const group = this.#waiting;
      this.#waiting = undefined;
      const { bytes } = group.lines;
      try {
        this.#attempt = bytes;
        await this.#file.append(bytes);
        await this.#file.sync();
        this.#checkAlone(bytes.length);
        this.#durableLength += bytes.length;
        group.lines.clear();
        this.#spare.push(group.lines);
        group.resolve();
      } catch (error) {
        // Nothing more is written until the file is repaired: later events may depend on the lost ones.
        this.#broken = storageError(error);
        group.reject(this.#broken);
        this.#rejectWaiting(this.#broken);
      }
    }
    this.#committing = undefined;
  }

  /**
   * Checks, before acknowledging, that the file contains exactly the known bytes and the added ones. Of two writers
   * that are unaware of each other, only the first passes; the other's lines are never acknowledged.
   */
  #checkAlone(added: number): void {
    const { files, path } = this.#deps;
    if (files.sizeNow(path) !== this.#durableLength + added) throw foreignError();
  }

  #rejectWaiting(error: FailureError): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  /**
   * Partial bytes must be removed before anything else is written: otherwise rejected events would reappear when the
   * log is opened again. Only bytes of this writer are removed, since those of another program may have been
   * acknowledged there. Uses a new handle, since the failed one may be unusable.
   */
  async #removePartialWrite(): Promise<ReadLog> {
    const { files, path } = this.#deps;
    const file = await files.openForAppend(path);
    try {
      const bytes = (await files.read(path)) ?? new Uint8Array();
      const isOwn = startsWith(this.#attempt, bytes.subarray(this.#durableLength));
      const length = isOwn ? Math.min(bytes.length, this.#durableLength) : bytes.length;
      if (length < bytes.length) await file.truncate(length);
      // Ends a partial line of another program, so that the next line does not become part of it.
      const half = length > 0 && bytes[length - 1] !== NEWLINE;
      if (half) await file.append(Uint8Array.of(NEWLINE));
      await file.sync();
      const former = this.#file;
      this.#file = file;
      this.#durableLength = length + (half ? 1 : 0);
      this.#broken = undefined;
      await former
        .close()
        .catch((error: unknown) => this.#deps.logger.warn(`a handle could not be closed: ${String(error)}`));
      return readEvents(bytes.subarray(0, length));
    } catch (error) {
      if (this.#file !== file) await file.close().catch(() => undefined);
      throw error;
    }
  }
}

function startsWith(whole: Uint8Array, part: Uint8Array): boolean {
  return part.length <= whole.length && Buffer.compare(whole.subarray(0, part.length), part) === 0;
}

function foreignError(): FailureError {
  return new FailureError({
    code: 'storage',
    message: 'Another program has changed this conversation’s log.',
    nextStep: 'Send again. If this happens again, close the conversation in the other window.',
  });
}

function closedError(): FailureError {
  return new FailureError({ code: 'closed', message: 'The log was closed.' });
}
