// Limits how many pieces of work run at the same time; the others wait in the order in which they came.

export class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limit: number) {
    this.#free = limit;
  }

  /** Runs the work once there is room. Resolves to undefined, at once, if the signal is aborted before. */
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
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        resolve(false);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(enter);
    });
  }

  /** The room goes to the next one directly: nobody who comes later gets in before it. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
