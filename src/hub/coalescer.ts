// Coalesces updates of one key, such as a thread: the first is pushed at once, then at most one in each interval.
import { type Clock } from '../base/clock.ts';
import { type Disposable } from '../base/disposable.ts';

export class Coalescer implements Disposable {
  readonly #clock: Clock;
  readonly #interval: number;
  readonly #push: (key: string) => void;
  /** Keys that were pushed within the last interval; `again`: push once more when the interval ends. */
  readonly #recent = new Map<string, { again: boolean; timer: Disposable }>();

  constructor(clock: Clock, interval: number, push: (key: string) => void) {
    this.#clock = clock;
    this.#interval = interval;
    this.#push = push;
  }

  changed(key: string): void {
    const recent = this.#recent.get(key);
    if (recent !== undefined) {
      recent.again = true;
      return;
    }
    this.#wait(key);
    this.#push(key);
  }

  dispose(): void {
    for (const { timer } of this.#recent.values()) timer.dispose();
    this.#recent.clear();
  }

  #wait(key: string): void {
    const timer = this.#clock.after(this.#interval, () => {
      const again = this.#recent.get(key)?.again === true;
      this.#recent.delete(key);
      if (again) this.changed(key);
    });
    this.#recent.set(key, { again: false, timer });
  }
}
