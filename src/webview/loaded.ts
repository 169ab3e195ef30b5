// Loads a part of the page when it is needed for the first time, so that the page starts without it.
import { useEffect, useState } from 'preact/hooks';

/** Undefined until it is loaded. If that fails, it is tried again when it is needed the next time. */
export function useLoaded<T>(isNeeded: boolean, load: () => Promise<T>): T | undefined {
  const [part, setPart] = useState<T>();
  useEffect(() => {
    if (isNeeded && part === undefined)
      load().then(
        (one) => setPart(() => one),
        () => undefined,
      );
  }, [isNeeded]);
  return part;
}
