// Asynchronous work: in turn, coalesced, with a time limit, after a pause, and again after growing delays.
import { type Clock } from './clock.ts';
import { type Disposable } from './disposable.ts';
import { type Event } from './emitter.ts';

/** For a rejection that needs no handling; the call says why. */
export function ignore(): undefined {
  return undefined;
}

/** Runs work one after the other, in the order of the calls. Work that fails does not stop what comes after it. */
export class Sequence {
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  get isIdle(): boolean {
    return this.#count === 0;
  }

  run<T>(work: () => T | Promise<T>): Promise<T> {
    this.#count += 1;
    const done = () => {
      this.#count -= 1;
    };
    const result = this.#last.then(work);
    this.#last = result.then(done, done);
    return result;
  }

  /** Resolves once all work so far has ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}

/** A sequence for each key, which is dropped once its work has ended. */
export class Sequences<Key> {
  readonly #sequences = new Map<Key, Sequence>();

  async run<T>(key: Key, work: () => T | Promise<T>): Promise<T> {
    const sequence = this.#sequences.get(key) ?? new Sequence();
    this.#sequences.set(key, sequence);
    try {
      return await sequence.run(work);
    } finally {
      if (sequence.isIdle) this.#sequences.delete(key);
    }
  }

  has(key: Key): boolean {
    return this.#sequences.has(key);
  }

  async settled(key: Key): Promise<void> {
    await this.#sequences.get(key)?.settled();
  }
}

/** Commits groups one after the other: what is added during a commit makes up the next group. */
export class GroupCommit<Group> {
  readonly #create: () => Group;
  readonly #commit: (group: Group) => Promise<void>;
  #waiting: { readonly group: Group; readonly committed: PromiseWithResolvers<void> } | undefined;
  #committing: Promise<void> | undefined;

  constructor(create: () => Group, commit: (group: Group) => Promise<void>) {
    this.#create = create;
    this.#commit = commit;
  }

  /** Adds to the next group. Settles as its commit does. */
  add(put: (group: Group) => void): Promise<void> {
    this.#waiting ??= { group: this.#create(), committed: Promise.withResolvers() };
    put(this.#waiting.group);
    this.#committing ??= this.#commitAll();
    return this.#waiting.committed.promise;
  }

  /** Resolves once nothing is being committed. */
  async settled(): Promise<void> {
    await this.#committing;
  }

  async #commitAll(): Promise<void> {
    // What is added in the same tick joins the first group.
    await Promise.resolve();
    for (let next = this.#waiting; next !== undefined; next = this.#waiting) {
      this.#waiting = undefined;
      await this.#commit(next.group).then(next.committed.resolve, next.committed.reject);
    }
    this.#committing = undefined;
  }
}

/** Calls during a run share the next run, which begins when that one has ended: it sees all changes before the call. */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = () => {
    next = undefined;
    const run = work().finally(() => {
      if (running === run) running = undefined;
    });
    running = run;
    return run;
  };
  return () => next ?? (running === undefined ? start() : (next = running.catch(ignore).then(start)));
}

/** Calls during a run get the result of that run. */
export function share<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Resolves to true after the time, or to false as soon as the signal is aborted. */
export function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (passed: boolean) => {
      timer.dispose();
      signal?.removeEventListener('abort', cancel);
      resolve(passed);
    };
    const cancel = () => end(false);
    const timer = clock.after(milliseconds, () => end(true));
    signal?.addEventListener('abort', cancel, { once: true });
  });
}

/** Resolves once the signal is aborted. Call it once for a signal: its listener stays. */
export function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }));
}

/** Resolves at the next event, or once the signal is aborted. */
export async function nextEvent<T>(event: Event<T>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => resolve();
  const listening = event(done);
  signal.addEventListener('abort', done, { once: true });
  if (!signal.aborted) await promise;
  signal.removeEventListener('abort', done);
  listening.dispose();
}

/** Resolves as the work does, or to undefined if it takes longer, or the signal is aborted; the work then goes on. */
export async function within<T>(
  clock: Clock,
  milliseconds: number,
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const over = new AbortController();
  const either = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  try {
    return await Promise.race([work, pause(clock, milliseconds, either).then(ignore)]);
  } finally {
    over.abort();
  }
}

/** The delay after this many failures in a row: doubles from the first to the longest one. */
export function backOff(failures: number, first: number, longest: number): number {
  return Math.min(longest, first * 2 ** (failures - 1));
}

/** Counts failures for `backOff`. */
export class BackOff {
  readonly #first: number;
  readonly #longest: number;
  #failures = 0;

  constructor(first: number, longest: number) {
    this.#first = first;
    this.#longest = longest;
  }

  next(): number {
    this.#failures += 1;
    return backOff(this.#failures, this.#first, this.#longest);
  }

  reset(): void {
    this.#failures = 0;
  }
}

/** The first call runs at once; calls within the interval after a run cause one more when it ends. Each key by itself. */
export class Coalescer<Key> implements Disposable {
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #run: (key: Key) => void;
  readonly #recent = new Map<Key, { again: boolean; timer: Disposable }>();

  constructor(clock: Clock, interval: number, run: (key: Key) => void) {
    this.#clock = clock;
    this.#interval = interval;
    this.#run = run;
  }

  changed(key: Key): void {
    const recent = this.#recent.get(key);
    if (recent !== undefined) {
      recent.again = true;
      return;
    }
    const timer = this.#clock.after(this.#interval, () => {
      const again = this.#recent.get(key)?.again === true;
      this.#recent.delete(key);
      if (again) this.changed(key);
    });
    this.#recent.set(key, { again: false, timer });
    this.#run(key);
  }

  dispose(): void {
    for (const { timer } of this.#recent.values()) timer.dispose();
    this.#recent.clear();
  }
}
