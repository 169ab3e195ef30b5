// Debounces comparisons of touched files, and never runs two comparisons of one file at the same time.
import { type Disposable } from '../../base/disposable.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { elapsed } from './seenHashes.ts';
import { type Steadiness } from './steadiness.ts';

export interface ScheduledComparisonsDeps {
  readonly clock: Clock;
  /** A file is compared once it was not touched for this long, since programs often write in several steps. */
  readonly quietMilliseconds: number;
  /** A file that is touched continuously is compared after this long; absent: only once it is quiet. */
  readonly mostMilliseconds?: number;
  /** `touched`: when it was first touched since the last comparison; undefined if that was not observed. */
  compare(path: string, touched: number | undefined): Promise<void>;
  report(error: unknown): void;
}

interface Waiting {
  readonly timer: Disposable;
  readonly touched: number | undefined;
  readonly since: number;
}

export class ScheduledComparisons implements Disposable {
  readonly #deps: ScheduledComparisonsDeps;
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Map<string, Promise<void>>();
  #ended = false;

  constructor(deps: ScheduledComparisonsDeps) {
    this.#deps = deps;
  }

  /** `observed`: the file was touched now; otherwise it only needs a comparison. */
  soon(path: string, observed: boolean, milliseconds = this.#deps.quietMilliseconds): void {
    if (this.#ended) return;
    const { clock } = this.#deps;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    const now = clock.now();
    const touched = before?.touched ?? (observed ? now : undefined);
    const since = before?.since ?? now;
    const longest = this.#deps.mostMilliseconds ?? Number.POSITIVE_INFINITY;
    const wait = Math.min(milliseconds, Math.max(0, since + Math.max(longest, milliseconds) - now));
    const timer = clock.after(wait, () => this.#due(path, touched));
    this.#waiting.set(path, { timer, touched, since });
  }

  /** Compares at once, or right after a running comparison of the file. */
  now(path: string): void {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched);
  }

  /** Compares at once, as if the file was touched now; resolves after the comparison. */
  async observe(path: string): Promise<void> {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched ?? this.#deps.clock.now());
    await this.#running.get(path);
  }

  /** Files that were touched and not compared since. */
  get waiting(): ReadonlySet<string> {
    return new Set(this.#waiting.keys());
  }

  dispose(): void {
    this.#ended = true;
    for (const { timer } of this.#waiting.values()) timer.dispose();
    this.#waiting.clear();
  }

  #due(path: string, touched: number | undefined): void {
    this.#waiting.delete(path);
    const before = this.#running.get(path) ?? Promise.resolve();
    const next = before
      .then(() => (this.#ended ? undefined : this.#deps.compare(path, touched)))
      .catch((error: unknown) => this.#deps.report(error))
      .then(() => {
        if (this.#running.get(path) === next) this.#running.delete(path);
      });
    this.#running.set(path, next);
  }
}

/** Compares files in which a change was found a second time. Files that keep changing are left for later. */
export async function observeTwice(
  clock: Clock,
  comparisons: ScheduledComparisons,
  steadiness: Steadiness,
  paths: readonly string[],
): Promise<void> {
  await Promise.all(paths.map((path) => comparisons.observe(path)));
  const waits = paths.flatMap((path) => {
    const wait = steadiness.waitFor(path);
    return wait === undefined ? [] : [{ path, wait }];
  });
  if (waits.length === 0) return;
  await elapsed(clock, Math.max(...waits.map(({ wait }) => wait)));
  await Promise.all(waits.map(({ path }) => comparisons.observe(path)));
}
