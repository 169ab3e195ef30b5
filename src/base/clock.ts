// The time as a port: everything that waits or dates takes it from here, so that a test can turn it by hand.
import { type Disposable } from './disposable.ts';

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls once after the delay, unless disposed before. */
  after(milliseconds: number, run: () => void): Disposable;
}
