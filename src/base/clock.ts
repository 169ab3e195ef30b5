// The clock as a port: everything that waits or needs the time uses it, so that tests control time.
import { type Disposable } from './disposable.ts';

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls once after the delay, unless disposed before. */
  after(milliseconds: number, run: () => void): Disposable;
}
