// The index of a running hub. If SQLite fails, requests wait until it works again or the index was made again from the
// hub's files, so nobody ever sees an index in which known messages are missing.
import { rmSync } from 'node:fs';
import type * as sqliteModule from 'node:sqlite';
import { ignore, pause, Sequence } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { type AnyRecord, type HubWriter, type StoredRecord } from '../hubWriter.ts';
import { readWrittenFiles, type ReadDeps } from '../readRecords.ts';
import { MessageIndex } from './messageIndex.ts';
import { isBusy, isSqliteError } from './sqliteErrors.ts';

/** Milliseconds that a lock of another process is waited for. After that, the index is made again in memory. */
export const BUSY_LIMIT = 5000;
/** Milliseconds between two attempts. SQLite itself waits only briefly, since it blocks the whole process. */
export const BUSY_INTERVAL = 50;

export interface LiveIndexDeps extends ReadDeps {
  readonly clock: Clock;
  readonly sqlite: typeof sqliteModule;
  readonly path: string;
}

export class LiveIndex {
  readonly #deps: LiveIndexDeps;
  readonly #writer: () => HubWriter;
  #index: MessageIndex;
  /** Set while the index is being made again. */
  #rebuilding: Promise<void> | undefined;
  /** The last use that waits. Later ones wait for it, so that uses are answered in the order of the calls. */
  readonly #retries = new Sequence();

  constructor(deps: LiveIndexDeps, index: MessageIndex, writer: () => HubWriter) {
    this.#deps = deps;
    this.#index = index;
    this.#writer = writer;
  }

  /** Reads from the index. `read` is called again after a failure of SQLite, so it must change nothing before one. */
  async use<T>(read: (index: MessageIndex) => T): Promise<T> {
    if (this.#retries.isIdle && this.#rebuilding === undefined) {
      try {
        return read(this.#index);
      } catch (error) {
        if (!isSqliteError(error)) throw error;
      }
    }
    return this.#retries.run(() => this.#attempt(read, (rebuild) => this.#writer().exclusive(rebuild)));
  }

  /** As `use`, but at once and without a second attempt: undefined if SQLite fails. */
  peek<T>(read: (index: MessageIndex) => T): T | undefined {
    try {
      return read(this.#index);
    } catch (error) {
      if (isSqliteError(error)) return undefined;
      throw error;
    }
  }

  /** Only for the writer, which writes nothing meanwhile. Returns the records that changed something. */
  async apply(stored: readonly StoredRecord[]): Promise<AnyRecord[]> {
    const before = this.#index;
    const changed = await this.#attempt(
      (index) => index.apply(stored),
      (rebuild) => rebuild(),
    );
    // An index that was made from the files contains the records already.
    return this.#index === before ? changed : stored.map(({ record }) => record);
  }

  close(): void {
    this.#index.close();
  }

  async #attempt<T>(
    read: (index: MessageIndex) => T,
    whileNothingIsWritten: (rebuild: () => Promise<void>) => Promise<void>,
  ): Promise<T> {
    const { clock, report } = this.#deps;
    const limit = clock.now() + BUSY_LIMIT;
    for (;;) {
      // Whoever started it gets its error.
      await this.#rebuilding?.catch(ignore);
      const index = this.#index;
      try {
        return read(index);
      } catch (error) {
        if (!isSqliteError(error) || index.isInMemory) throw error;
        if (isBusy(error) && clock.now() < limit) await pause(clock, BUSY_INTERVAL);
        else
          await whileNothingIsWritten(() => {
            if (index !== this.#index) return Promise.resolve();
            report(`the index cannot be used, so the index is made again in memory: ${describeError(error)}`);
            this.#rebuilding = this.#rebuild(index, isBusy(error)).finally(() => (this.#rebuilding = undefined));
            return this.#rebuilding;
          });
      }
    }
  }

  async #rebuild(broken: MessageIndex, busy: boolean): Promise<void> {
    const { sqlite, path } = this.#deps;
    const records = await readWrittenFiles(this.#deps, this.#writer().lengths);
    const index = MessageIndex.create(sqlite, ':memory:');
    index.apply(records);
    this.#index = index;
    try {
      broken.close();
      // A locked file is only behind: the next start completes it.
      if (!busy) removeIndex(path);
    } catch {
      // The next start checks the file.
    }
  }
}

export function removeIndex(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
}
