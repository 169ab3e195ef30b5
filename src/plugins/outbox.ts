// The queue of lines to one plugin. Writes one batch at a time, so that waiting lines can be counted and dropped.

/** Partial events are dropped while more bytes than this wait. */
const MOST_BEFORE_PARTIALS = 256 * 1024;
/** A replay continues once no more bytes than this wait. */
const ROOM = 256 * 1024;
const BATCH = 256 * 1024;

export interface OutboxSink {
  /** Calls `accepted` once the kernel has accepted the bytes, or with an error. */
  write(bytes: Uint8Array, accepted: (error?: Error) => void): void;
}

/** Counts waiting lines of one kind, such as those of one subscription. */
export class Waiting {
  lines = 0;
  bytes = 0;

  /** Whether one more line of this length may wait. If no other line waits, its length does not matter. */
  takes(length: number, most: { readonly lines: number; readonly bytes: number }): boolean {
    return this.lines === 0 || (this.lines < most.lines && this.bytes + length <= most.bytes);
  }

  add(length: number): void {
    this.lines += 1;
    this.bytes += length;
  }

  remove(length: number): void {
    this.lines -= 1;
    this.bytes -= length;
  }
}

/** Counts a line until the kernel has accepted it. */
export interface LineOwner {
  takes(length: number): boolean;
  add(length: number): void;
  remove(length: number): void;
}

interface QueuedLine {
  readonly bytes: Uint8Array;
  readonly owner: LineOwner | undefined;
}

export class Outbox {
  readonly #sink: OutboxSink;
  readonly #changed: () => void;
  /** Entries before `#next` have been written, and are cleared to free their memory. */
  #queue: (QueuedLine | undefined)[] = [];
  #next = 0;
  #bytes = 0;
  #writing = false;
  #closed = false;
  #waitingForRoom: { readonly most: number; readonly resolve: () => void }[] = [];

  /** `changed` is called when fewer bytes wait than before. */
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

  /** Queues a line. False: its owner refuses it. */
  send(line: string, owner?: LineOwner): boolean {
    if (this.#closed) return true;
    const bytes = Buffer.from(`${line}\n`);
    if (owner?.takes(bytes.length) === false) return false;
    this.#queue.push({ bytes, owner });
    this.#bytes += bytes.length;
    owner?.add(bytes.length);
    this.#write();
    return true;
  }

  /** Whether a partial event may be queued now. */
  get takesPartials(): boolean {
    return !this.#closed && this.#bytes <= MOST_BEFORE_PARTIALS;
  }

  /** Resolves once no more than `most` bytes wait, or the plugin is gone. */
  room(most = ROOM): Promise<void> {
    if (this.#closed || this.#bytes <= most) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForRoom.push({ most, resolve }));
  }

  /** Resolves the waits for this limit early. */
  makeRoom(most: number): void {
    this.#release((one) => one === most);
  }

  /** Resolves once everything was accepted, or the plugin is gone. */
  flushed(): Promise<void> {
    return this.room(0);
  }

  /** Drops all waiting lines. Nothing more is sent. */
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
      for (const { bytes: line, owner } of batch) owner?.remove(line.length);
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
      this.#queue[this.#next] = undefined;
      this.#next += 1;
    }
    if (this.#next === this.#queue.length || this.#next > 1000) {
      this.#queue = this.#queue.slice(this.#next);
      this.#next = 0;
    }
    return batch;
  }

  #wake(): void {
    this.#release((most) => this.#bytes <= most);
  }

  #release(isDue: (most: number) => boolean): void {
    const waiting = this.#waitingForRoom;
    this.#waitingForRoom = waiting.filter(({ most }) => !isDue(most));
    for (const { most, resolve } of waiting) if (isDue(most)) resolve();
  }
}
