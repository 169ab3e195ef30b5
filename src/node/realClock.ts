// The system clock behind the port.
import { type Clock } from '../base/clock.ts';
import { toDisposable } from '../base/disposable.ts';

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(() => {
      held.dispose();
      run();
    }, milliseconds);
    const held = toDisposable(() => clearTimeout(timer));
    return held;
  },
};
