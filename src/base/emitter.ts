// Decides how an event is announced: to each listener in order, and one that throws does not keep it from the others.
import { type Disposable, toDisposable } from './disposable.ts';

export type Event<T> = (listener: (value: T) => void) => Disposable;

export class Emitter<T> implements Disposable {
  /** Replaced whole when it changes, so that who listens while an event is announced hears the next one first. */
  #listeners: readonly ((value: T) => void)[] = [];
  readonly #report: (error: unknown) => void;

  /** `report` gets what a listener throws: it is a bug there, and no reason to stop here. */
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
