// Publishes the records of this machine's agents: in the order of each author's file, each after the acknowledgement of
// the one before. The files are the outbox; only the newest records are also kept in memory.
import { join } from 'node:path';
import { type MessageRecord } from '../../protocol/hub.ts';
import { type StoredRecord } from '../hubWriter.ts';
import { authorOf, messageFile } from '../readRecords.ts';
import { type LinkState } from './linkState.ts';
import { countLines, type OutboxItem, readOutbox } from './outboxFile.ts';

/** Bytes of records that are kept in memory. Further records are read from their files when they are published. */
const MOST_KEPT = 8 * 1024 * 1024;
/** How many authors are published at the same time. */
const MOST_AT_ONCE = 64;

interface Queue {
  readonly author: string;
  /** The length of the author's file. */
  length: number;
  /** The offset up to which the file was published. */
  sent: number;
  /** The offset up to which `items` contains the file. */
  read: number;
  items: OutboxItem[];
  /** The number of lines after `sent`. */
  waiting: number;
}

export type PublishResult = { readonly seq: number } | 'skipped';

export interface OutboxDeps {
  readonly folder: string;
  readonly state: LinkState;
  readonly lengths: ReadonlyMap<string, number>;
  now(): number;
  /** Called when the number of waiting records has changed. */
  changed(): void;
  report(message: string, error?: unknown): void;
}

export class Outbox {
  readonly #deps: OutboxDeps;
  readonly #queues = new Map<string, Queue>();
  /** Authors with records to publish that are not being published yet. */
  readonly #ready = new Set<string>();
  readonly #running = new Set<string>();
  #kept = 0;
  #wake: (() => void) | undefined;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    for (const [author, length] of deps.lengths) this.#queues.set(author, emptyQueue(author, length));
  }

  /** The number of records that are not acknowledged yet. */
  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, { waiting }) => sum + waiting, 0);
  }

  hasWaiting(author: string): boolean {
    const queue = this.#queues.get(author);
    return queue !== undefined && queue.sent < queue.length;
  }

  stored(records: readonly StoredRecord[]): void {
    for (const { file, end, record, bytes } of records) {
      const author = authorOf(file);
      if (author === undefined) continue;
      const queue = this.#queueOf(author);
      const start = queue.length;
      queue.length = end;
      queue.waiting += 1;
      if (bytes !== undefined && queue.read === start && this.#kept < MOST_KEPT) {
        queue.items.push({ record: record as MessageRecord, bytes: bytes.subarray(0, -1), start, end });
        queue.read = end;
        this.#kept += bytes.length;
      }
      this.#offer(author);
      this.#deps.changed();
    }
  }

  /** Reads the positions from the state. Call it at the start and after they changed there, and not during `run`. */
  async load(): Promise<void> {
    this.#ready.clear();
    this.#kept = 0;
    const counting = [...this.#queues.values()].map(async (queue) => {
      const sent = this.#deps.state.sent(queue.author);
      // If the file is shorter than its published part, it is a new file.
      queue.sent = sent <= queue.length ? sent : 0;
      queue.read = queue.sent;
      queue.items = [];
      queue.waiting = 0;
      const lines =
        queue.sent < queue.length ? await countLines(this.#path(queue.author), queue.sent, queue.length) : 0;
      // Added, since records that were stored meanwhile are counted already.
      queue.waiting += lines;
      this.#offer(queue.author);
    });
    await Promise.all(counting);
    this.#deps.changed();
  }

  /** Publishes until the signal is aborted. Stops and rejects if a publication fails. */
  async run(publish: (item: OutboxItem, author: string) => Promise<PublishResult>, signal: AbortSignal): Promise<void> {
    const running = new Set<Promise<void>>();
    const failures: unknown[] = [];
    const wakeUp = () => this.#wake?.();
    signal.addEventListener('abort', wakeUp, { once: true });
    while (!signal.aborted && failures.length === 0) {
      for (const author of this.#ready) {
        if (running.size >= MOST_AT_ONCE) break;
        this.#ready.delete(author);
        this.#running.add(author);
        const work = this.#drain(this.#queueOf(author), publish, signal)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => {
            running.delete(work);
            this.#running.delete(author);
            this.#offer(author);
            this.#wake?.();
          });
        running.add(work);
      }
      await this.#sleep();
    }
    signal.removeEventListener('abort', wakeUp);
    await Promise.all(running);
    if (failures.length > 0) throw failures[0];
  }

  async #drain(
    queue: Queue,
    publish: (item: OutboxItem, author: string) => Promise<PublishResult>,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted && queue.sent < queue.length) {
      const [item] = queue.items;
      if (item === undefined) {
        await this.#fill(queue);
        continue;
      }
      const result = await publish(item, queue.author);
      queue.items.shift();
      queue.sent = item.end;
      this.#kept -= item.bytes.length + 1;
      queue.waiting -= 1;
      this.#deps.changed();
      const { author } = queue;
      const { start, end, record } = item;
      if (result === 'skipped') this.#deps.state.setSent(author, end);
      else
        this.#deps.state.published({
          seq: result.seq,
          event: record.event_id,
          author,
          start,
          end,
          at: this.#deps.now(),
        });
    }
  }

  async #fill(queue: Queue): Promise<void> {
    const from = queue.read;
    const part = await readOutbox(this.#path(queue.author), from, queue.length);
    for (const item of part.items) this.#kept += item.bytes.length + 1;
    for (const item of part.items) queue.items.push(item);
    queue.read = part.read;
    if (part.damaged > 0) {
      queue.waiting -= part.damaged;
      this.#deps.report(`${messageFile(queue.author)}: ${part.damaged} damaged lines were not sent to other machines`);
    }
    if (part.items.length === 0) queue.sent = part.read;
  }

  #offer(author: string): void {
    if (this.#running.has(author) || !this.hasWaiting(author)) return;
    this.#ready.add(author);
    this.#wake?.();
  }

  async #sleep(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (this.#ready.size > 0 && this.#running.size < MOST_AT_ONCE) resolve();
    });
    this.#wake = undefined;
  }

  #queueOf(author: string): Queue {
    const known = this.#queues.get(author);
    if (known !== undefined) return known;
    const queue = emptyQueue(author, 0);
    this.#queues.set(author, queue);
    return queue;
  }

  #path(author: string): string {
    return join(this.#deps.folder, messageFile(author));
  }
}

function emptyQueue(author: string, length: number): Queue {
  return { author, length, sent: 0, read: 0, items: [], waiting: 0 };
}
