// Waits until language servers have reported on the current content of a file.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Problems } from '../../core/ports/problems.ts';
import { type FilePath } from '../../core/ports/workspace.ts';

/** How long to wait for a server that has reported before; one that is starting gets longer. */
const REPORTS_MILLISECONDS = 10_000;
const STARTS_MILLISECONDS = 30_000;

export class ServerReports implements Disposable {
  readonly #clock: Clock;
  readonly #listening: Disposable;
  readonly #reported = new Set<string>();
  /** Several calls may wait for one file. */
  readonly #waiting = new Set<{ readonly path: string; end(): void }>();
  /** By language: whether any server reports on such files. */
  readonly #reportsOn = new Map<string, boolean>();

  constructor({ clock, problems }: { readonly clock: Clock; readonly problems: Pick<Problems, 'onDidChange'> }) {
    this.#clock = clock;
    this.#listening = problems.onDidChange(({ type, files }) => {
      for (const { path } of files) {
        if (type === 'edited') this.#reported.delete(path);
        if (type !== 'reported') continue;
        this.#reported.add(path);
        for (const waiting of this.#waiting) if (waiting.path === path) waiting.end();
      }
    });
  }

  async until({ path }: FilePath, language: string, signal: AbortSignal): Promise<void> {
    const known = this.#reportsOn.get(language);
    if (known === false || this.#reported.has(path) || signal.aborted) return;
    const isAborted = await new Promise<boolean>((resolve) => {
      const end = () => {
        timer.dispose();
        signal.removeEventListener('abort', end);
        this.#waiting.delete(waiting);
        resolve(signal.aborted);
      };
      const waiting = { path, end };
      const timer = this.#clock.after(known === true ? REPORTS_MILLISECONDS : STARTS_MILLISECONDS, end);
      this.#waiting.add(waiting);
      signal.addEventListener('abort', end, { once: true });
    });
    // An aborted call has not waited long enough to know.
    if (isAborted) return;
    this.#reportsOn.set(language, known === true || this.#reported.has(path));
    // Nobody reported in time: do not wait again until the file changes.
    this.#reported.add(path);
  }

  dispose(): void {
    this.#listening.dispose();
  }
}
