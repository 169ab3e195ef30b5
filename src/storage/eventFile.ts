// The log on disk: an append-only file with group commit. A torn end is cut off and kept in another file.
import { basename, dirname, join } from 'node:path';
import { GroupCommit, ignore, Sequence } from '../base/async.ts';
import { type Failure, FailureError, describeError } from '../base/errors.ts';
import { type StorageCode } from '../base/failureCodes.ts';
import { type Logger } from '../core/ports/ports.ts';
import {
  type EventFile,
  type OpenedLog,
  type ReadLog,
  type ListedFacts,
  type PartialAnswer,
  type PartialAnswers,
} from '../core/ports/storage.ts';
import { DurableFile } from '../node/files/durableFile.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { type LogEvent } from '../protocol/event.ts';
import { endOfLine, hasLineEnd } from './line.ts';
import { readEvents } from './readEvents.ts';
import { storageError } from './storageError.ts';
import { TitleFile } from './titleFile.ts';
import * as z from 'zod';

const NEWLINE = 0x0a;
const FIRST_BYTES = 64 * 1024;
/** Larger buffers are not reused. */
const MOST_KEPT_BYTES = 1024 * 1024;
/** Most UTF-8 bytes for one UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;
const MOST_END_BYTES = 32;

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

/** A reusable buffer of encoded lines, which avoids garbage when many events are appended. */
export class LineBuffer {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  add(event: LogEvent): void {
    const text = JSON.stringify(event);
    this.#reserve(text.length * MOST_BYTES_PER_UNIT + MOST_END_BYTES);
    // The line end replaces the closing brace.
    const brace = this.#length + this.#bytes.write(text, this.#length, 'utf8') - 1;
    this.#length = brace + this.#bytes.write(endOfLine(text), brace, 'latin1');
  }

  /** Valid until the next `add` or `clear`. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
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

const partSchema = z.strictObject({ id: z.string(), model: z.string(), text: z.string(), reasoning: z.string() });

/** Stores the shown part of an answer that is not in the log yet, in a file next to the log. */
class PartialFile implements PartialAnswers {
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #logger: Logger;
  /** The answer whose parts are in the file. */
  #id: string | undefined;
  readonly #writing = new Sequence();

  constructor(files: FileSystem, folder: string, logger: Logger) {
    this.#files = files;
    this.#path = join(folder, 'partial.jsonl');
    this.#logger = logger;
  }

  add(part: PartialAnswer): void {
    this.#after(() => this.#write(part));
  }

  drop(): void {
    this.#after(() => this.#files.remove(this.#path));
    this.#id = undefined;
  }

  async take(): Promise<PartialAnswer | undefined> {
    await this.#writing.settled();
    const bytes = await this.#files.read(this.#path);
    const parts = bytes === undefined ? [] : new TextDecoder().decode(bytes).split('\n').flatMap(readPart);
    const last = parts.at(-1);
    if (last === undefined) return undefined;
    const own = parts.filter(({ id }) => id === last.id);
    const whole = (field: 'text' | 'reasoning') => own.map((part) => part[field]).join('');
    return { ...last, text: whole('text'), reasoning: whole('reasoning') };
  }

  /** Resolves once everything is written. */
  settled(): Promise<void> {
    return this.#writing.settled();
  }

  /** A part that cannot be written is only logged: it is lost only if the editor is killed before the answer ends. */
  #after(work: () => Promise<void>): void {
    const report = (error: unknown) => this.#logger.warn(`a partial answer was not stored: ${describeError(error)}`);
    void this.#writing.run(work).catch(report);
  }

  async #write(part: PartialAnswer): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(part)}\n`);
    if (part.id !== this.#id) {
      await this.#files.writeWhole(this.#path, line);
      this.#id = part.id;
      return;
    }
    const file = await this.#files.openForAppend(this.#path);
    try {
      await file.append(line);
    } finally {
      await file.close();
    }
  }
}

/** Empty for a torn or damaged line. */
function readPart(line: string): PartialAnswer[] {
  try {
    return [partSchema.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}
