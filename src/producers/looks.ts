// Decides when a file that was touched is looked at: once it was quiet for a moment, and never twice at the same time.
import { type Disposable } from '../base/disposable.ts';
import { type Clock } from '../core/ports.ts';

export interface LooksDeps {
  readonly clock: Clock;
  /** Writers often write in several steps: a file is looked at once it was quiet for this long. */
  readonly quietMilliseconds: number;
  /** `touched`: when it was first touched since the last look; undefined if nobody saw it being touched. */
  look(path: string, touched: number | undefined): Promise<void>;
  report(error: unknown): void;
}

export class Looks implements Disposable {
  readonly #deps: LooksDeps;
  readonly #waiting = new Map<string, { readonly timer: Disposable; readonly touched: number | undefined }>();
  readonly #looking = new Map<string, Promise<void>>();
  #ended = false;

  constructor(deps: LooksDeps) {
    this.#deps = deps;
  }

  /** `observed`: something happened to it now; otherwise it is only to be looked at. */
  soon(path: string, observed: boolean, milliseconds = this.#deps.quietMilliseconds): void {
    if (this.#ended) return;
    const { clock } = this.#deps;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    const touched = before?.touched ?? (observed ? clock.now() : undefined);
    const timer = clock.after(milliseconds, () => this.#due(path, touched));
    this.#waiting.set(path, { timer, touched });
  }

  /** At once, after the look that is under way. */
  now(path: string): void {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched);
  }

  /** At once, as if something had happened to it now; resolves once it was looked at. */
  async observe(path: string): Promise<void> {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched ?? this.#deps.clock.now());
    await this.#looking.get(path);
  }

  dispose(): void {
    this.#ended = true;
    for (const { timer } of this.#waiting.values()) timer.dispose();
    this.#waiting.clear();
  }

  #due(path: string, touched: number | undefined): void {
    this.#waiting.delete(path);
    const before = this.#looking.get(path) ?? Promise.resolve();
    const next = before
      .then(() => (this.#ended ? undefined : this.#deps.look(path, touched)))
      .catch((error: unknown) => this.#deps.report(error))
      .then(() => {
        if (this.#looking.get(path) === next) this.#looking.delete(path);
      });
    this.#looking.set(path, next);
  }
}
