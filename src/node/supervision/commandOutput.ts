// Reads what a command prints and stores it; holds only a bounded part in memory.
import { type Readable } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describeError } from '../../base/errors.ts';
import { type OutputMeasure, type OutputWriter } from '../outputFile.ts';

/** Bytes of output that are not on disk yet; beyond this limit reading pauses, and so does the command. */
const MOST_QUEUED = 1024 * 1024;
/** After the command's end: how long to wait for output or the end of the streams, and how often. */
const WAIT_MILLISECONDS = 300;
const MOST_WAITS = 5;
/** More than any pipe can hold of what the command itself has printed. */
const MOST_LAST_BYTES = 4 * 1024 * 1024;

export class CommandOutput {
  readonly #writer: Pick<OutputWriter, 'append' | 'close' | 'measure'>;
  readonly #onDidStore: () => void;
  #streams: readonly Readable[] = [];
  #queue: Buffer[] = [];
  #queued = 0;
  /** Bytes read so far. */
  #read = 0;
  #writing: Promise<void> | undefined;
  #problem: string | undefined;

  constructor(writer: Pick<OutputWriter, 'append' | 'close' | 'measure'>, onDidStore: () => void) {
    this.#writer = writer;
    this.#onDidStore = onDidStore;
  }

  get measure(): OutputMeasure {
    return this.#writer.measure;
  }

  /** Why output is missing; undefined if it is complete. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** A command that could not be started may have no streams. */
  read(streams: readonly (Readable | null | undefined)[]): void {
    this.#streams = streams.flatMap((stream) => stream ?? []);
    for (const stream of this.#streams) stream.on('data', (chunk: Buffer) => this.#printed(chunk));
  }

  /**
   * Stores the rest and closes the file. Does not wait for the end of the streams, since a process that outlives the
   * command may keep them open.
   */
  async end(): Promise<void> {
    const most = this.#read + MOST_LAST_BYTES;
    for (let waits = 0; waits < MOST_WAITS && this.#open.length > 0 && this.#read < most; ) {
      const before = this.#read;
      await Promise.race([Promise.all(this.#open.map(closed)), setTimeout(WAIT_MILLISECONDS)]);
      // On a stalled machine the time is over before the streams were read even once.
      await setImmediate();
      // A slow disk pauses the streams, however long it takes.
      const isPaused = this.#open.some((stream) => stream.isPaused());
      await this.#writing;
      if (isPaused) continue;
      if (this.#read === before) break;
      waits += 1;
    }
    for (const stream of this.#streams) stream.destroy();
    await this.#writing;
    await this.#writer.close().catch((error: unknown) => {
      this.#problem ??= describeError(error);
    });
  }

  get #open(): readonly Readable[] {
    return this.#streams.filter((stream) => !stream.closed);
  }

  #printed(chunk: Buffer): void {
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    this.#read += chunk.length;
    if (this.#queued > MOST_QUEUED) for (const stream of this.#streams) stream.pause();
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** A full disk must not block the command: output that cannot be stored is dropped and reported at the end. */
  async #write(): Promise<void> {
    while (this.#queue.length > 0) {
      const bytes = Buffer.concat(this.#queue.splice(0));
      this.#queued = 0;
      try {
        await this.#writer.append(bytes);
      } catch (error) {
        this.#problem ??= describeError(error);
      }
      this.#onDidStore();
      for (const stream of this.#streams) stream.resume();
    }
  }
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.once('close', () => resolve()));
}
