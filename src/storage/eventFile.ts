// The log on disk: an append-only file with group commit. A torn end is cut off and kept in another file.
import { basename, dirname, join } from 'node:path';
import { GroupCommit, ignore } from '../base/async.ts';
import { type Failure, FailureError } from '../base/errors.ts';
import { type StorageCode } from '../base/failureCodes.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type EventFile, type OpenedLog, type ReadLog, type ListedFacts } from '../core/ports/storage.ts';
import { DurableFile } from '../node/files/durableFile.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
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
  const opened = new GroupCommitFile(deps, new DurableFile(files, path, read.length, file));
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

/** Appends that arrive during a sync share the next one. */
class GroupCommitFile implements EventFile {
  readonly #deps: EventFileDeps;
  readonly #title: TitleFile;
  readonly partial: PartialFile;
  readonly #file: DurableFile;
  /** Buffers of finished groups. At most two are in use: one being written and one waiting. */
  readonly #spare: LineBuffer[] = [];
  readonly #groups = new GroupCommit(
    () => this.#spare.pop() ?? new LineBuffer(),
    (lines) => this.#commit(lines),
  );
  #repairing: Promise<ReadLog> | undefined;
  #broken: FailureError | undefined;
  #closed = false;

  constructor(deps: EventFileDeps, file: DurableFile) {
    this.#deps = deps;
    this.#title = new TitleFile(deps.files, dirname(deps.path), deps.logger);
    this.partial = new PartialFile(deps.files, dirname(deps.path), deps.logger);
    this.#file = file;
  }

  append(event: LogEvent): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    if (this.#closed) return Promise.reject(closedError());
    return this.#groups.add((lines) => lines.add(event));
  }

  async repair(): Promise<ReadLog> {
    await this.#groups.settled();
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
    await this.#groups.settled();
    await this.#repairing?.catch(ignore);
    await this.#file.close();
    await Promise.all([this.#title.settled(), this.partial.settled()]);
  }

  async #commit(lines: LineBuffer): Promise<void> {
    // Nothing more is written until the file is repaired: later events may depend on the lost ones.
    if (this.#broken !== undefined) throw this.#broken;
    const { bytes } = lines;
    try {
      await this.#file.append(bytes, () => this.#checkAlone(bytes.length));
    } catch (error) {
      this.#broken = storageError(error);
      throw this.#broken;
    }
    lines.clear();
    this.#spare.push(lines);
  }

  /**
   * Checks, before acknowledging, that the file contains exactly the known bytes and the added ones. Of two writers
   * that are unaware of each other, only the first passes; the other's lines are never acknowledged.
   */
  #checkAlone(added: number): void {
    const { files, path } = this.#deps;
    if (files.sizeNow(path) !== this.#file.length + added) throw foreignError();
  }

  /**
   * Partial bytes must be removed before anything else is written: otherwise rejected events would reappear when the
   * log is opened again. Only bytes of this writer are removed, since those of another program may have been
   * acknowledged there.
   */
  async #removePartialWrite(): Promise<ReadLog> {
    const { files, path } = this.#deps;
    const durable = this.#file.length;
    let left: Uint8Array = new Uint8Array();
    await this.#file.restore(async (handle, attempt) => {
      const bytes = (await files.read(path)) ?? new Uint8Array();
      const isOwn = startsWith(attempt, bytes.subarray(durable));
      const length = isOwn ? Math.min(bytes.length, durable) : bytes.length;
      if (length < bytes.length) await handle.truncate(length);
      // Ends a partial line of another program, so that the next line does not become part of it.
      const half = length > 0 && bytes[length - 1] !== NEWLINE;
      if (half) await handle.append(Uint8Array.of(NEWLINE));
      await handle.sync();
      left = bytes.subarray(0, length);
      return length + (half ? 1 : 0);
    });
    this.#broken = undefined;
    return readEvents(left);
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
