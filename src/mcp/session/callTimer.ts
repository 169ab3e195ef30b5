// The time limit of a call: starts again with each progress report, and pauses while the user is asked something.

export class CallTimer {
  readonly #milliseconds: number;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #questions = 0;
  #ended = false;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.restart();
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    if (this.#questions === 0 && !this.#ended) this.#timer = setTimeout(() => this.#over.abort(), this.#milliseconds);
  }

  async paused<T>(run: () => Promise<T>): Promise<T> {
    this.#questions += 1;
    clearTimeout(this.#timer);
    try {
      return await run();
    } finally {
      this.#questions -= 1;
      this.restart();
    }
  }

  dispose(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }
}
