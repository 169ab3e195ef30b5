// Spaces the reports of one producer, so that the throttle, which would count them without their lines, never has to.
import { type Clock } from '../../base/clock.ts';

/** Together fewer than the throttle lets through in any minute. */
const BURST = 8;
const MILLISECONDS_EACH = 1500;

export class ReportPace {
  readonly #clock: Clock;
  /** When all places are free again. */
  #free = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a place. Returns how many milliseconds to wait for it. */
  take(): number {
    const now = this.#clock.monotonic();
    this.#free = Math.max(this.#free, now) + MILLISECONDS_EACH;
    return Math.max(0, this.#free - now - BURST * MILLISECONDS_EACH);
  }
}
