// Aborts a stream that has shown no sign of life for too long.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';

export interface IdleWatch extends Disposable {
  /** Aborted with the outer signal, or when it was quiet for too long. */
  readonly signal: AbortSignal;
  readonly gaveUp: boolean;
  /** A sign of life. */
  heard(): void;
}

/** One timer for the whole stream: a sign of life only notes the time, which thousands of chunks can afford. */
export function watchIdle(clock: Clock, milliseconds: number, outer: AbortSignal): IdleWatch {
  const own = new AbortController();
  let last = clock.now();
  let gaveUp = false;
  let timer: Disposable;
  const look = () => {
    const left = last + milliseconds - clock.now();
    if (left > 0) {
      timer = clock.after(left, look);
      return;
    }
    gaveUp = true;
    own.abort();
  };
  timer = clock.after(milliseconds, look);
  return {
    signal: AbortSignal.any([outer, own.signal]),
    get gaveUp() {
      return gaveUp;
    },
    heard: () => {
      last = clock.now();
    },
    dispose: () => timer.dispose(),
  };
}
