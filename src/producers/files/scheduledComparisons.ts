// Decides when a file that was touched is looked at: once it was quiet for a moment, and never twice at the same time.
import { type Disposable } from '../../base/disposable.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { elapsed } from './seenHashes.ts';
import { type Steadiness } from './steadiness.ts';

export interface ScheduledComparisonsDeps {
  readonly clock: Clock;
  /** Writers often write in several steps: a file is looked at once it was quiet for this long. */
  readonly quietMilliseconds: number;
  /** One that is touched all the time is looked at all the same after so long; absent: it never is. */
  readonly mostMilliseconds?: number;
  /** `touched`: when it was first touched since the last look; undefined if nobody saw it being touched. */
  look(path: string, touched: number | undefined): Promise<void>;
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
  readonly #looking = new Map<string, Promise<void>>();
  #ended = false;

  constructor(deps: ScheduledComparisonsDeps) {
    this.#deps = deps;
  }

  /** `observed`: something happened to it now; otherwise it is only to be looked at. */
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

  /** At once, after the look that is under way. */
  now(path: string): void {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched);
  }

  /** At once, as if something had happened to it now; resolves once it was looked at. */
  async observe(path: string): Promise<void> {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched ?? this.#deps.clock.now());
    await this.#looking.get(path);
  }

  /** Touched, and not looked at since. */
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
    const before = this.#looking.get(path) ?? Promise.resolve();
    const next = before
      .then(() => (this.#ended ? undefined : this.#deps.look(path, touched)))
      .catch((error: unknown) => this.#deps.report(error))
      .then(() => {
        if (this.#looking.get(path) === next) this.#looking.delete(path);
      });
    this.#looking.set(path, next);
  }
}

/** Looks again at those in which the first look found something else. What keeps changing is left for a later time. */
export async function observeTwice(
  clock: Clock,
  looks: ScheduledComparisons,
  steadiness: Steadiness,
  paths: readonly string[],
): Promise<void> {
  await Promise.all(paths.map((path) => looks.observe(path)));
  const waits = paths.flatMap((path) => {
    const wait = steadiness.waitFor(path);
    return wait === undefined ? [] : [{ path, wait }];
  });
  if (waits.length === 0) return;
  await elapsed(clock, Math.max(...waits.map(({ wait }) => wait)));
  await Promise.all(waits.map(({ path }) => looks.observe(path)));
}
