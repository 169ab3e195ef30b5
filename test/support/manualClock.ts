// A clock that advances only when a test advances it, and runs due callbacks in order.
import { type Clock } from '../../src/base/clock.ts';
import { toDisposable } from '../../src/base/disposable.ts';

export interface ManualClock extends Clock {
  /** Advances the time; each due callback runs at its own time. */
  advance(milliseconds: number): void;
  /** Sets the time of day back, or forward with a negative number. Scheduled callbacks are not affected. */
  setBack(milliseconds: number): void;
  /** The number of scheduled callbacks. */
  readonly waiting: number;
}

export function createManualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  /** How far the time of day is behind `now`. */
  let behind = 0;
  let now = start;
  let number = 0;
  const timers = new Map<number, { readonly at: number; fire(): void }>();
  const nextDue = (until: number) =>
    [...timers.entries()].filter(([, timer]) => timer.at <= until).sort(([a, x], [b, y]) => x.at - y.at || a - b)[0];
  return {
    now: () => now - behind,
    monotonic: () => now,
    setBack: (milliseconds) => {
      behind += milliseconds;
    },
    after: (milliseconds, run) => {
      const id = number++;
      const held = toDisposable(() => timers.delete(id));
      timers.set(id, {
        at: now + Math.max(0, milliseconds),
        fire: () => {
          held.dispose();
          run();
        },
      });
      return held;
    },
    advance: (milliseconds) => {
      const until = now + milliseconds;
      for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
        now = due[1].at;
        due[1].fire();
      }
      now = until;
    },
    get waiting() {
      return timers.size;
    },
  };
}
