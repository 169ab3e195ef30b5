// Decides how things that must be released are held and released, and lets a test ask what was not.

export interface Disposable {
  dispose(): void;
}

/** Told of every tracked disposable's birth and end; set only by tests and in development. */
export interface DisposableTracker {
  created(disposable: object): void;
  disposed(disposable: object): void;
}

let tracker: DisposableTracker | undefined;

export function setDisposableTracker(next: DisposableTracker | undefined): void {
  tracker = next;
}

/** A function as a disposable; it runs once, however often it is called. */
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

/** Holds disposables and releases them in reverse order; what is added after the end is released at once. */
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

  /** Releases one of those held before its time. */
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
