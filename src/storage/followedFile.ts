// Follows a log that another window writes, as it grows.
import { dirname } from 'node:path';
import { coalesce } from '../base/async.ts';
import { type Clock } from '../base/clock.ts';
import { type Disposable, DisposableStore, toDisposable } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type AddedEvents, type FollowedLog, type ReadLog } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { LogFileReader } from './logReader.ts';

/** A watcher may miss changes, on a network disk all of them. */
const POLL_MILLISECONDS = 2000;

export interface FollowDeps {
  readonly files: FileSystem;
  readonly path: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export async function followEventFile(deps: FollowDeps): Promise<FollowedLog> {
  const file = new FollowedFile(deps);
  const read = await file.start();
  return { ...read, onDidGrow: file.onDidGrow, close: () => file.close() };
}

class FollowedFile {
  readonly #deps: FollowDeps;
  readonly #held = new DisposableStore();
  readonly #onDidGrow: Emitter<AddedEvents>;
  readonly #reader: LogFileReader;
  #nextSeq = 1;
  #timer: Disposable | undefined;
  #closed = false;

  constructor(deps: FollowDeps) {
    this.#deps = deps;
    this.#reader = new LogFileReader(deps.files, deps.path);
    this.#onDidGrow = this.#held.add(new Emitter((error) => deps.logger.error('a follower of a log failed', error)));
    this.#held.add(toDisposable(() => this.#timer?.dispose()));
  }

  get onDidGrow(): Emitter<AddedEvents>['event'] {
    return this.#onDidGrow.event;
  }

  async start(): Promise<ReadLog> {
    const { files, path } = this.#deps;
    try {
      // Watches before reading, so that no change is missed.
      this.#held.add(files.watch(dirname(path), () => this.#check()));
      const { events, nextSeq, damage } = await this.#reader.read();
      this.#nextSeq = nextSeq;
      this.#wait();
      return { events, nextSeq, damage };
    } catch (error) {
      this.#held.dispose();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#held.dispose();
    await this.#readNow();
  }

  #wait(): void {
    this.#timer?.dispose();
    this.#timer = this.#closed ? undefined : this.#deps.clock.after(POLL_MILLISECONDS, () => this.#check());
  }

  #check(): void {
    void this.#readNow().catch((error: unknown) => {
      this.#deps.logger.warn(`a followed log cannot be read now: ${String(error)}`);
    });
  }

  readonly #readNow = coalesce(async () => {
    if (this.#closed) return;
    await this.#readAdded().finally(() => this.#wait());
  });

  async #readAdded(): Promise<void> {
    const read = await this.#reader.read();
    if (this.#closed || (!read.whole && read.nextSeq === this.#nextSeq)) return;
    this.#nextSeq = read.nextSeq;
    this.#onDidGrow.fire(read);
  }
}
