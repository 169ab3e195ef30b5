// Disposables: resources that are released explicitly, and a hook by which tests find leaks.

export interface Disposable {
  dispose(): void;
}

/** Notified when a tracked disposable is created and disposed; set only by tests and in development. */
export interface DisposableTracker {
  created(disposable: object): void;
  disposed(disposable: object): void;
}

let tracker: DisposableTracker | undefined;

export function setDisposableTracker(next: DisposableTracker | undefined): void {
  tracker = next;
}

/** A disposable that calls the function only once, even if it is disposed several times. */
export function toDisposable(release: () => void): Disposable {
  let done = false;
  const disposable = {
    dispose: () => {
      if (done) return;
      done = true;
      tracker?.disposed(disposable);
      release();
    },
  };
  tracker?.created(disposable);
  return disposable;
}

/** Holds disposables and disposes them in reverse order. A disposable that is added later is disposed at once. */
export class DisposableStore implements Disposable {
  #held = new Set<Disposable>();
  #ended = false;

  constructor() {
    tracker?.created(this);
  }

  add<T extends Disposable>(disposable: T): T {
    if (this.#ended) disposable.dispose();
    else this.#held.add(disposable);
    return disposable;
  }

  /** Disposes one of the held disposables early. */
  release(disposable: Disposable): void {
    if (this.#held.delete(disposable)) disposable.dispose();
  }

  dispose(): void {
    if (this.#ended) return;
    this.#ended = true;
    tracker?.disposed(this);
    const errors: unknown[] = [];
    for (const disposable of [...this.#held].reverse()) {
      try {
        disposable.dispose();
      } catch (error) {
        errors.push(error);
      }
    }
    this.#held.clear();
    if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors);
  }
}
