// Projections of logs that are computed when somebody looks: kept between two looks, and then continued from where they
// ended.
import { Sequence, pause } from '../../../base/async.ts';
import { type Clock } from '../../../base/clock.ts';
import { type Result, succeeded } from '../../../base/errors.ts';
import { type LogEvent } from '../../../protocol/event.ts';
import { type LogReader, type Store } from '../../ports/storage.ts';

/** After so many events other work of the window gets a turn. */
const AT_ONCE = 500;

interface Projection {
  fold(event: LogEvent): void;
}

interface CachedProjection<T> {
  readonly reader: LogReader;
  readonly projection: T;
}

export class LogReads<T extends Projection> {
  readonly #ports: { readonly store: Pick<Store, 'reader'>; readonly clock: Clock };
  readonly #create: () => T;
  readonly #most: number;
  readonly #kept = new Map<string, CachedProjection<T>>();
  readonly #reads = new Sequence();

  /** `most`: of how many conversations the projection is kept. */
  constructor(ports: { readonly store: Pick<Store, 'reader'>; readonly clock: Clock }, create: () => T, most = 1) {
    this.#ports = ports;
    this.#create = create;
    this.#most = most;
  }

  /** Reads what is new in the log. */
  read(conversation: string): Promise<Result<T>> {
    return this.#reads.run(() => this.#read(conversation));
  }

  async #read(conversation: string): Promise<Result<T>> {
    const { store, clock } = this.#ports;
    const before = this.#kept.get(conversation);
    const reader = before?.reader ?? store.reader(conversation);
    // Last used last; a failed read starts again.
    this.#kept.delete(conversation);
    const read = await reader.read();
    if (!read.ok) return read;
    const projection = before === undefined || read.value.whole ? this.#create() : before.projection;
    let folded = 0;
    for (const event of read.value.events) {
      projection.fold(event);
      folded += 1;
      if (folded % AT_ONCE === 0) await pause(clock, 0);
    }
    this.#kept.set(conversation, { reader, projection });
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= this.#most) break;
      this.#kept.delete(oldest);
    }
    return succeeded(projection);
  }
}
