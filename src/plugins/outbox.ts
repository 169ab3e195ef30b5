// The queue of lines to one plugin. Hands the stream one batch at a time, so that what waits can be counted and dropped.

/** Partial events are dropped while more than this waits. */
const MOST_BEFORE_PARTIALS = 256 * 1024;
/** A replay goes on when less than this waits. */
const ROOM = 256 * 1024;
const BATCH = 256 * 1024;

export interface OutboxSink {
  /** `accepted` is called once the kernel has taken the bytes, with an error if it has not. */
  write(bytes: Uint8Array, accepted: (error?: Error) => void): void;
}

/** What waits for one owner, such as a subscription. */
export interface Waiting {
  lines: number;
  bytes: number;
}

interface QueuedLine {
  readonly bytes: Uint8Array;
  readonly owner: Waiting | undefined;
}

export class Outbox {
  readonly #sink: OutboxSink;
  readonly #changed: () => void;
  #queue: QueuedLine[] = [];
  #next = 0;
  #bytes = 0;
  #writing = false;
  #closed = false;
  #waitingForRoom: (() => void)[] = [];
  #waitingForEnd: (() => void)[] = [];

  /** `changed` is called when less waits than before. */
  constructor(sink: OutboxSink, changed: () => void) {
    this.#sink = sink;
    this.#changed = changed;
  }

  /** Bytes that the kernel has not accepted. */
  get bytes(): number {
    return this.#bytes;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Queues a line. `owner` counts it until it is accepted. */
  send(line: string, owner?: Waiting): void {
    if (this.#closed) return;
    const bytes = Buffer.from(`${line}\n`);
    this.#queue.push({ bytes, owner });
    this.#bytes += bytes.length;
    if (owner !== undefined) {
      owner.lines += 1;
      owner.bytes += bytes.length;
    }
    this.#write();
  }

  /** Whether a partial event may be queued now. */
  get takesPartials(): boolean {
    return !this.#closed && this.#bytes <= MOST_BEFORE_PARTIALS;
  }

  /** Resolves once little waits, or the plugin is gone. */
  room(): Promise<void> {
    if (this.#closed || this.#bytes <= ROOM) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForRoom.push(resolve));
  }

  /** Resolves once everything was accepted, or the plugin is gone. */
  flushed(): Promise<void> {
    if (this.#closed || this.#bytes === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForEnd.push(resolve));
  }

  /** Drops what waits; nothing more is sent. */
  close(): void {
    this.#closed = true;
    this.#queue = [];
    this.#next = 0;
    this.#bytes = 0;
    this.#wake();
  }

  #write(): void {
    if (this.#writing || this.#next === this.#queue.length) return;
    const batch = this.#take();
    const bytes =
      batch.length === 1 && batch[0] !== undefined ? batch[0].bytes : Buffer.concat(batch.map((one) => one.bytes));
    this.#writing = true;
    this.#sink.write(bytes, (error) => {
      this.#writing = false;
      if (this.#closed) return;
      if (error !== undefined) return this.close();
      this.#bytes -= bytes.length;
      for (const { bytes: line, owner } of batch) {
        if (owner === undefined) continue;
        owner.lines -= 1;
        owner.bytes -= line.length;
      }
      this.#wake();
      this.#changed();
      this.#write();
    });
  }

  #take(): readonly QueuedLine[] {
    const batch: QueuedLine[] = [];
    let length = 0;
    while (this.#next < this.#queue.length && length < BATCH) {
      const line = this.#queue[this.#next];
      if (line === undefined) break;
      batch.push(line);
      length += line.bytes.length;
      this.#next += 1;
    }
    if (this.#next === this.#queue.length || this.#next > 1000) {
      this.#queue = this.#queue.slice(this.#next);
      this.#next = 0;
    }
    return batch;
  }

  #wake(): void {
    if (this.#bytes <= ROOM) for (const resolve of this.#waitingForRoom.splice(0)) resolve();
    if (this.#bytes === 0) for (const resolve of this.#waitingForEnd.splice(0)) resolve();
  }
}
