// Limits how many tasks run at the same time; others wait in order of arrival.

export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limit: number) {
    this.#free = limit;
  }

  /** Runs the task once a slot is free. If the signal is aborted before that, resolves at once to undefined. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    if (!(await this.#enter(signal))) return undefined;
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const enter = () => {
        signal.removeEventListener('abort', leaveQueue);
        resolve(true);
      };
      const leaveQueue = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        resolve(false);
      };
      signal.addEventListener('abort', leaveQueue, { once: true });
      this.#waiting.push(enter);
    });
  }

  /** Hands the slot to the next in line directly, so that no later arrival overtakes it. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
