// A clock that all processes of a test share and that runs faster than the system's, so that minutes pass in seconds.
import { type Clock } from '../../../src/base/clock.ts';
import { realClock } from '../../../src/node/realClock.ts';

const TIMES = 30;

/** `epoch`: when it began to run faster, in milliseconds since 1970. */
export function fastClock(epoch: number): Clock {
  return {
    now: () => epoch + (realClock.now() - epoch) * TIMES,
    monotonic: () => realClock.monotonic() * TIMES,
    after: (milliseconds, run) => realClock.after(milliseconds / TIMES, run),
  };
}
