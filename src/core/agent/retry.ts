// Computes the delays between attempts at a failed model call, and waits for them.
import { type Clock } from '../../base/clock.ts';

const MOST_RETRIES = 4;
const FIRST_MILLISECONDS = 1000;
/** A longer wait is reported as a failure instead. */
const LONGEST_MILLISECONDS = 120_000;

/**
 * Milliseconds until the next attempt after this many failures; undefined: no more attempts. The endpoint's own delay
 * takes precedence over doubling. One person's few requests need no jitter.
 */
export function retryDelay(failures: number, asked: number | undefined): number | undefined {
  if (failures > MOST_RETRIES) return undefined;
  if (asked !== undefined) return asked > LONGEST_MILLISECONDS ? undefined : Math.max(asked, 0);
  return FIRST_MILLISECONDS * 2 ** (failures - 1);
}

/** Resolves to whether the time has passed; false: aborted before. */
export function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (passed: boolean) => {
      timer.dispose();
      signal.removeEventListener('abort', cancel);
      resolve(passed);
    };
    const cancel = () => end(false);
    const timer = clock.after(milliseconds, () => end(true));
    signal.addEventListener('abort', cancel, { once: true });
  });
}
