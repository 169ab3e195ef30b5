// Attributes changes made while a command ran: to its own processes, or to others that wrote at the same time.
import { type ObservedProcess, type ProcessObserver, type ProcessWatch } from '../ports/processes.ts';
import { type FilePath } from '../ports/workspace.ts';

interface Changed {
  readonly file: FilePath;
}

/** Uses one watch for all commands of a conversation that run at the same time: writes of any of them are its own. */
export class Attribution {
  readonly #observer: ProcessObserver | undefined;
  #watch: ProcessWatch | undefined;
  #users = 0;
  /** The number of running calls whose processes cannot be observed. */
  #blind = 0;

  constructor(observer: ProcessObserver | undefined) {
    this.#observer = observer;
  }

  /** `isObservable`: every process that the call starts is announced. */
  begin(running: readonly ObservedProcess[], isObservable: boolean): void {
    this.#users += 1;
    if (!isObservable) this.#blind += 1;
    this.#watch ??= this.#observer?.watch();
    for (const process of running) this.#watch?.add(process);
  }

  observe(process: ObservedProcess): void {
    this.#watch?.add(process);
  }

  end(isObservable: boolean): void {
    this.#users -= 1;
    if (!isObservable) this.#blind -= 1;
    if (this.#users > 0) return;
    this.#watch?.dispose();
    this.#watch = undefined;
  }

  /**
   * The paths that others wrote: at a time when no process of the conversation ran, or with the file still open in
   * another process. `times`: when each file was last changed; a file without a time is attributed to the command.
   */
  async othersOf(changes: readonly Changed[], times: ReadonlyMap<string, number>): Promise<ReadonlySet<string>> {
    const watch = this.#watch;
    if (watch === undefined) return new Set();
    await watch.settled(Math.max(0, ...changes.flatMap(({ file }) => times.get(file.path) ?? [])));
    const held = await watch.heldByOthers(changes.map(({ file }) => file.absolute));
    const isOthers = ({ path, absolute }: FilePath) => {
      if (held.has(absolute)) return true;
      const at = times.get(path);
      return at !== undefined && this.#blind === 0 && !watch.mayHaveRun(at);
    };
    return new Set(changes.flatMap(({ file }) => (isOthers(file) ? [file.path] : [])));
  }
}
