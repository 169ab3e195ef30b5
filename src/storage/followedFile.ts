// Follows a log that another window writes: reads only new lines, but reads the whole log again if bytes were removed.
import { dirname } from 'node:path';
import { coalesce } from '../base/async.ts';
import { type Clock } from '../base/clock.ts';
import { type Disposable, DisposableStore, toDisposable } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { type Logger } from '../core/ports/ports.ts';
import { type FollowedLog, type ReadLog } from '../core/ports/storage.ts';
import { type FileSystem } from '../node/files/fileSystem.ts';
import { type ReadEvents, readEvents } from './readEvents.ts';

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
  readonly #onDidGrow: Emitter<ReadLog & { whole: boolean }>;
  #nextSeq = 1;
  /** Length up to the end of the last complete line read, and that line. */
  #length = 0;
  #lines = 0;
  #last: Uint8Array = new Uint8Array();
  #timer: Disposable | undefined;
  #closed = false;

  constructor(deps: FollowDeps) {
    this.#deps = deps;
    this.#onDidGrow = this.#held.add(new Emitter((error) => deps.logger.error('a follower of a log failed', error)));
    this.#held.add(toDisposable(() => this.#timer?.dispose()));
  }

  get onDidGrow(): Emitter<ReadLog & { whole: boolean }>['event'] {
    return this.#onDidGrow.event;
  }

  async start(): Promise<ReadLog> {
    const { files, path } = this.#deps;
    try {
      // Watches before reading, so that no change is missed.
      this.#held.add(files.watch(dirname(path), () => this.#check()));
      const bytes = (await files.read(path)) ?? new Uint8Array();
      const read = readEvents(bytes);
      this.#remember(bytes, read, 0);
      this.#nextSeq = read.nextSeq;
      this.#wait();
      return { events: read.events, nextSeq: read.nextSeq, damage: read.damage };
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
    await this.#readNew().finally(() => this.#wait());
  });

  /** Compares the last line read: if it is unchanged, so is everything before it. */
  async #readNew(): Promise<void> {
    const { files, path } = this.#deps;
    const start = this.#length - this.#last.length;
    const bytes = (await files.readFrom(path, start)) ?? new Uint8Array();
    if (this.#closed) return;
    const same =
      bytes.length >= this.#last.length && Buffer.compare(bytes.subarray(0, this.#last.length), this.#last) === 0;
    if (!same) return this.#readAll();
    const added = bytes.subarray(this.#last.length);
    if (added.length === 0) return;
    const read = readEvents(added, { seq: this.#nextSeq - 1, lines: this.#lines });
    // The new lines may seem damaged because bytes were removed meanwhile: only a full read shows that.
    if (read.damage.length > 0) return this.#readAll();
    if (read.length === 0) return;
    this.#remember(added, read, this.#length);
    this.#nextSeq = read.nextSeq;
    this.#onDidGrow.fire({ events: read.events, nextSeq: read.nextSeq, damage: [], whole: false });
  }

  async #readAll(): Promise<void> {
    const { files, path } = this.#deps;
    const bytes = (await files.read(path)) ?? new Uint8Array();
    if (this.#closed) return;
    const read = readEvents(bytes);
    this.#lines = 0;
    this.#remember(bytes, read, 0);
    this.#nextSeq = read.nextSeq;
    this.#onDidGrow.fire({ events: read.events, nextSeq: read.nextSeq, damage: read.damage, whole: true });
  }

  #remember(bytes: Uint8Array, read: ReadEvents, before: number): void {
    this.#length = before + read.length;
    this.#lines += read.lines;
    this.#last = bytes.slice(read.lastLine, read.length);
  }
}
