// The clock as a port: everything that waits or needs the time uses it, so that tests control time.
import { type Disposable } from './disposable.ts';

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since some moment. Unlike `now` it never goes back or jumps, so waits are measured with it. */
  monotonic(): number;
  /** Calls once after the delay, unless disposed before. */
  after(milliseconds: number, run: () => void): Disposable;
}
