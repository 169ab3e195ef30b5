// Event emitter: calls listeners in order; a listener that throws does not stop the others.
import { type Disposable, toDisposable } from './disposable.ts';

export type Event<T> = (listener: (value: T) => void) => Disposable;

export class Emitter<T> implements Disposable {
  /** Replaced whole when it changes: a listener added while an event fires gets only later events. */
  #listeners: readonly ((value: T) => void)[] = [];
  readonly #report: (error: unknown) => void;

  /** `report` is called with errors that listeners throw, which are bugs in those listeners. */
  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  readonly event: Event<T> = (listener) => {
    const own = (value: T) => listener(value);
    this.#listeners = [...this.#listeners, own];
    return toDisposable(() => {
      this.#listeners = this.#listeners.filter((one) => one !== own);
    });
  };

  fire(value: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(value);
      } catch (error) {
        this.#report(error);
      }
    }
  }

  dispose(): void {
    this.#listeners = [];
  }
}
