// Appends the hub's records to their files. Records of a group share one write and one sync for each file, and are
// applied in the order of arrival.
import { join } from 'node:path';
import { GroupCommit, ignore, pause } from '../base/async.ts';
import { type Clock } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { DurableFile } from '../node/files/durableFile.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
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
  failure?: Error;
}

interface HubGroup {
  readonly records: Waiting[];
  /** Runs before the records are written. */
  readonly alone: (() => Promise<void>)[];
}

/** How often, and after how many milliseconds, the file is read back after a failed write. */
const READ_BACK_ATTEMPTS = 5;
const READ_BACK_INTERVAL = 20;
/** Beyond this many files, those that were written least recently are closed. */
const MOST_OPEN = 64;

export class HubWriter {
  readonly #deps: HubWriterDeps;
  readonly #files: Map<string, DurableFile>;
  /** Least recently written first. */
  readonly #open = new Set<DurableFile>();
  readonly #groups = new GroupCommit<HubGroup>(
    () => ({ records: [], alone: [] }),
    (group) => this.#commit(group),
  );
  #closed = false;

  constructor(deps: HubWriterDeps) {
    this.#deps = deps;
    this.#files = new Map([...deps.lengths].map(([name, length]) => [name, this.#createFile(name, length)]));
  }

  /** The length of each file. */
  get lengths(): ReadonlyMap<string, number> {
    return new Map([...this.#files].map(([name, { length }]) => [name, length]));
  }

  /**
   * Resolves once the record is on disk and applied. Rejects if it cannot be written; then it has no effect, unless the
   * error is an `UnknownOutcomeError`.
   */
  async append(file: string, record: AnyRecord): Promise<void> {
    if (this.#closed) throw new Error('the hub is closing');
    const bytes = new TextEncoder().encode(`${JSON.stringify(record)}\n`);
    const waiting: Waiting = { file, record, bytes };
    await this.#groups.add(({ records }) => records.push(waiting));
    if (waiting.failure !== undefined) throw waiting.failure;
  }

  /** Runs while nothing is being written, so that the files are exactly as long as `lengths` says. */
  exclusive<T>(run: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#groups.add(({ alone }) => alone.push(() => run().then(resolve, reject))).catch(reject);
    });
  }

  /** Waits until all appended records are written, then closes the files. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#groups.settled();
    for (const file of this.#open) await file.close();
    this.#open.clear();
  }

  async #commit({ records, alone }: HubGroup): Promise<void> {
    for (const run of alone) await run();
    const byFile = new Map<string, Waiting[]>();
    for (const record of records) {
      const same = byFile.get(record.file);
      if (same === undefined) byFile.set(record.file, [record]);
      else same.push(record);
    }
    await Promise.all([...byFile].map(([name, same]) => this.#write(name, same)));
    await this.#closeSpare();
    const stored = records.filter(({ failure }) => failure === undefined);
    if (stored.length > 0) await this.#deps.apply(this.#locate(stored));
  }

  async #write(name: string, records: readonly Waiting[]): Promise<void> {
    const file = this.#files.get(name) ?? this.#createFile(name, 0);
    this.#files.set(name, file);
    this.#open.delete(file);
    this.#open.add(file);
    try {
      // Otherwise a rejected record would reappear later.
      if (file.needsRestore) await this.#restore(file);
      await file.append(Buffer.concat(records.map(({ bytes }) => bytes)));
    } catch (error) {
      const message = `${name} cannot be written: ${describeError(error)}`;
      // Nothing is promised before the file is known to be as it was.
      const failure = (await this.#isRestored(file)) ? new Error(message) : new UnknownOutcomeError(message);
      for (const record of records) record.failure = failure;
    }
  }

  /** False: what a failed write left could not be removed. It is tried again before the next write. */
  async #isRestored(file: DurableFile): Promise<boolean> {
    for (let attempt = 0; attempt < READ_BACK_ATTEMPTS && file.needsRestore; attempt++) {
      if (attempt > 0) await pause(this.#deps.clock, READ_BACK_INTERVAL);
      await this.#restore(file).catch(ignore);
    }
    return !file.needsRestore;
  }

  async #restore(file: DurableFile): Promise<void> {
    const { length, path } = file;
    await file.restore(async (handle) => {
      await handle.truncate(length);
      await handle.sync();
      const found = await this.#deps.files.stat(path);
      if (found?.size !== length) throw new Error(`it has ${found?.size ?? 0} bytes instead of ${length}`);
      return length;
    });
  }

  #createFile(name: string, length: number): DurableFile {
    return new DurableFile(this.#deps.files, join(this.#deps.folder, name), length);
  }

  #locate(stored: readonly Waiting[]): StoredRecord[] {
    const ends = new Map<string, number>();
    for (const { file, bytes } of stored)
      ends.set(file, (ends.get(file) ?? this.#files.get(file)?.length ?? 0) - bytes.length);
    return stored.map(({ file, record, bytes }) => {
      const end = (ends.get(file) ?? 0) + bytes.length;
      ends.set(file, end);
      return { file, record, end, bytes };
    });
  }

  async #closeSpare(): Promise<void> {
    for (const file of this.#open) {
      if (this.#open.size <= MOST_OPEN) return;
      this.#open.delete(file);
      await file.close().catch(ignore);
    }
  }
}
