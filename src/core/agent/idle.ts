// Aborts a stream that has been silent for too long.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';

export interface IdleWatch extends Disposable {
  /** Aborted with the outer signal, or when the stream was silent for too long. */
  readonly signal: AbortSignal;
  readonly timedOut: boolean;
  /** Call for each part that arrives. */
  noteActivity(): void;
}

/** Uses one timer for the whole stream: each part only records its time, which is cheap for thousands of parts. */
export function watchIdle(clock: Clock, milliseconds: number, outer: AbortSignal): IdleWatch {
  const own = new AbortController();
  let last = clock.monotonic();
  let timedOut = false;
  let timer: Disposable;
  const check = () => {
    const left = last + milliseconds - clock.monotonic();
    if (left > 0) {
      timer = clock.after(left, check);
      return;
    }
    timedOut = true;
    own.abort();
  };
  timer = clock.after(milliseconds, check);
  return {
    signal: AbortSignal.any([outer, own.signal]),
    get timedOut() {
      return timedOut;
    },
    noteActivity: () => {
      last = clock.monotonic();
    },
    dispose: () => timer.dispose(),
  };
}
