// Debounces comparisons of touched files, and never runs two of one file at the same time.
import { type Disposable } from '../../base/disposable.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { elapsed } from './seenHashes.ts';
import { type Steadiness } from './steadiness.ts';

export interface ScheduledComparisonsDeps {
  readonly clock: Clock;
  /** Programs often write in several steps: a file is compared once it was not touched for this long. */
  readonly quietMilliseconds: number;
  /** A file that is touched all the time is compared after this long; absent: never. */
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

  /** `observed`: it was touched now; otherwise it is only to be compared. */
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

  /** At once, after a comparison that is running. */
  now(path: string): void {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched);
  }

  /** At once, as if it was touched now; resolves once it was compared. */
  async observe(path: string): Promise<void> {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched ?? this.#deps.clock.now());
    await this.#running.get(path);
  }

  /** Touched, and not compared since. */
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

/** Compares again the files in which the first comparison found a change. Files that keep changing are left for later. */
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
