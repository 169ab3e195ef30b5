// Appends the hub's records to their files. Records of a group share one write and one sync for each file, and are
// applied in the order of arrival.
import { join } from 'node:path';
import { pause } from '../base/async.ts';
import { type Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { type AppendFile, type FileSystem } from '../node/files/fileSystem.ts';
import { type HubRecord, type MessageRecord } from '../protocol/hub.ts';

export type AnyRecord = HubRecord | MessageRecord;

/** A record that is on disk. */
export interface StoredRecord {
  readonly file: string;
  /** The offset in the file after the record's line. */
  readonly end: number;
  readonly record: AnyRecord;
  /** The record's line in the file, with its line break; absent if the record was read from the file. */
  readonly bytes?: Uint8Array;
}

export interface HubWriterDeps {
  readonly files: FileSystem;
  readonly folder: string;
  /** The present length of each file. */
  readonly lengths: ReadonlyMap<string, number>;
  readonly clock: Clock;
  /** Called for each group once it is on disk, in the order of `n`. Nothing is written meanwhile. Must not reject. */
  apply(records: readonly StoredRecord[]): Promise<void>;
}

/** A write failed, and what it left in the file could not be removed: the records may be there after a restart. */
export class UnknownOutcomeError extends Error {}

interface Waiting {
  readonly file: string;
  readonly record: AnyRecord;
  readonly bytes: Uint8Array;
  resolve(): void;
  reject(error: Error): void;
}

/** How often, and after how many milliseconds, the file is read back after a failed write. */
const READ_BACK_ATTEMPTS = 5;
const READ_BACK_INTERVAL = 20;
/** Beyond this many files, those that were written least recently are closed. */
const MOST_OPEN = 64;

export class HubWriter {
  readonly #deps: HubWriterDeps;
  readonly #lengths: Map<string, number>;
  /** Least recently used first. */
  readonly #open = new Map<string, AppendFile>();
  /** Files whose last write failed. They may end with a part of it until they are truncated. */
  readonly #unsure = new Set<string>();
  #waiting: Waiting[] = [];
  #alone: (() => Promise<void>)[] = [];
  #committing: Promise<void> | undefined;
  #closed = false;

  constructor(deps: HubWriterDeps) {
    this.#deps = deps;
    this.#lengths = new Map(deps.lengths);
  }

  /** The length of each file. */
  get lengths(): ReadonlyMap<string, number> {
    return this.#lengths;
  }

  /**
   * Resolves once the record is on disk and applied. Rejects if it cannot be written; then it has no effect, unless the
   * error is an `UnknownOutcomeError`.
   */
  append(file: string, record: AnyRecord): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the hub is closing'));
    const bytes = new TextEncoder().encode(`${JSON.stringify(record)}\n`);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ file, record, bytes, resolve, reject });
      this.#committing ??= this.#commit();
    });
  }

  /** Runs while nothing is being written, so that the files are exactly as long as `lengths` says. */
  exclusive<T>(run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#alone.push(() => run().then(resolve, reject));
      this.#committing ??= this.#commit();
    });
  }

  /** Waits until all appended records are written, then closes the files. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#committing;
    for (const file of this.#open.values()) await file.close();
    this.#open.clear();
  }

  async #commit(): Promise<void> {
    // Lets records of the same tick join the first group.
    await Promise.resolve();
    while (this.#waiting.length > 0 || this.#alone.length > 0) {
      for (const run of this.#alone.splice(0)) await run();
      const group = this.#waiting.splice(0);
      const byFile = groupByFile(group);
      const failures = new Map<string, Error>();
      await Promise.all(
        [...byFile].map(async ([file, records]) => {
          try {
            await this.#write(file, records);
          } catch (error) {
            const message = `${file} cannot be written: ${describeError(error)}`;
            // Nothing is promised before the file is known to be as it was.
            failures.set(file, (await this.#isRestored(file)) ? new Error(message) : new UnknownOutcomeError(message));
          }
        }),
      );
      await this.#closeSpare();
      const stored = group.filter(({ file }) => !failures.has(file));
      if (stored.length > 0) await this.#deps.apply(this.#locate(stored));
      for (const { file, resolve, reject } of group) {
        const failure = failures.get(file);
        if (failure === undefined) resolve();
        else reject(failure);
      }
    }
    this.#committing = undefined;
  }

  async #write(name: string, records: readonly Waiting[]): Promise<void> {
    const file = await this.#fileFor(name);
    const length = this.#lengths.get(name) ?? 0;
    this.#unsure.add(name);
    const bytes = Buffer.concat(records.map((record) => record.bytes));
    await file.append(bytes);
    await file.sync();
    this.#unsure.delete(name);
    this.#lengths.set(name, length + bytes.length);
  }

  /** False: what a failed write left could not be removed. It is tried again before the next write. */
  async #isRestored(name: string): Promise<boolean> {
    for (let attempt = 0; attempt < READ_BACK_ATTEMPTS && this.#unsure.has(name); attempt++) {
      if (attempt > 0) await pause(this.#deps.clock, READ_BACK_INTERVAL);
      await this.#fileFor(name).catch(() => undefined);
    }
    return !this.#unsure.has(name);
  }

  /** Truncates a file whose last write failed, so that a rejected record does not reappear later. */
  async #fileFor(name: string): Promise<AppendFile> {
    const known = this.#open.get(name);
    if (known !== undefined && !this.#unsure.has(name)) {
      this.#open.delete(name);
      this.#open.set(name, known);
      return known;
    }
    await known?.close().catch(() => undefined);
    this.#open.delete(name);
    const path = join(this.#deps.folder, name);
    const file = await this.#deps.files.openForAppend(path);
    try {
      if (this.#unsure.has(name)) {
        const length = this.#lengths.get(name) ?? 0;
        await file.truncate(length);
        await file.sync();
        const found = await this.#deps.files.stat(path);
        if (found?.size !== length) throw new Error(`it has ${found?.size ?? 0} bytes instead of ${length}`);
        this.#unsure.delete(name);
      }
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    this.#open.set(name, file);
    return file;
  }

  #locate(stored: readonly Waiting[]): StoredRecord[] {
    const ends = new Map<string, number>();
    for (const { file, bytes } of stored)
      ends.set(file, (ends.get(file) ?? this.#lengths.get(file) ?? 0) - bytes.length);
    return stored.map(({ file, record, bytes }) => {
      const end = (ends.get(file) ?? 0) + bytes.length;
      ends.set(file, end);
      return { file, record, end, bytes };
    });
  }

  async #closeSpare(): Promise<void> {
    for (const [name, file] of this.#open) {
      if (this.#open.size <= MOST_OPEN) return;
      this.#open.delete(name);
      await file.close().catch(() => undefined);
    }
  }
}

function groupByFile(group: readonly Waiting[]): Map<string, Waiting[]> {
  const groups = new Map<string, Waiting[]>();
  for (const waiting of group) {
    const same = groups.get(waiting.file);
    if (same === undefined) groups.set(waiting.file, [waiting]);
    else same.push(waiting);
  }
  return groups;
}
