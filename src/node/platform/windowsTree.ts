// Ends and finds the processes of a command on Windows. There they have no group, and a parent's id stays known after
// its end, so descendants are found from the list of all processes.
import { type Survivor } from '../../base/commandEnd.ts';
import { type ProcessInfo, type ProcessTree, type StartedProcess } from './parts.ts';
import { listWindows, type RunProgram } from './windowsTable.ts';

/** The place of the leash among the pipes of a command. */
const LEASH = 3;
const MOST_TIMES = 3;

export class WindowsTree implements ProcessTree {
  readonly #run: RunProgram;
  readonly #child: StartedProcess;
  /** Processes that were found below the command. */
  readonly #found = new Set<number>();
  #isShellGone = false;
  #isLeashGone = false;

  constructor(run: RunProgram, child: StartedProcess) {
    this.#run = run;
    this.#child = child;
    child.once?.('exit', () => {
      this.#isShellGone = true;
    });
    const leash = child.stdio?.[LEASH];
    leash?.on('error', () => undefined);
    leash?.once('close', () => {
      this.#isLeashGone = true;
    });
    // Only a stream that is read notices its end.
    if (leash !== null && leash !== undefined && 'resume' in leash) leash.resume();
  }

  /**
   * Without `force` only programs with windows are asked to end: other programs cannot be. `away` changes nothing: what
   * cannot be found cannot be spared either.
   */
  async end(force: boolean): Promise<void> {
    const how = force ? ['/F'] : [];
    // A process may start another one between the list and its end.
    for (let times = 0; times < (force ? MOST_TIMES : 1); times += 1) {
      const { isListed, left } = await this.#left();
      const targets = [...(this.#isShellGone ? [] : [this.#child.pid ?? 0]), ...left];
      if (targets.length === 0) return;
      // Without a list only the system can find what runs below.
      const ids = targets.flatMap((pid) => ['/PID', String(pid)]);
      await this.#run('taskkill', [...(isListed ? [] : ['/T']), ...how, ...ids]);
      if (!isListed) return;
    }
  }

  /** No program can be sent Ctrl+C from outside its console, so the whole tree is ended, not only its shell. */
  interrupt(): Promise<void> {
    return this.end(true);
  }

  async isAlive(): Promise<boolean> {
    if (!this.#isShellGone) return true;
    if (this.#isLeashGone) return false;
    const { isListed, left } = await this.#left();
    // Somebody holds the leash, even if nobody can say who.
    return !isListed || left.length > 0;
  }

  /** Whatever was found is ended with the command. */
  async survivors(): Promise<readonly Survivor[]> {
    return [];
  }

  /** What runs below the shell. `isListed`: false if the system lists no processes, so only what was found before is known. */
  async #left(): Promise<{ readonly isListed: boolean; readonly left: readonly number[] }> {
    const all = await listWindows(this.#run);
    if (all.length === 0) return { isListed: false, left: [...this.#found] };
    const shell = this.#child.pid ?? 0;
    const running = new Set(all.map(({ pid }) => pid));
    for (const pid of this.#found) if (!running.has(pid)) this.#found.delete(pid);
    // The id of a shell that has ended may be in use again: then its children are another program's.
    const roots = this.#isShellGone && running.has(shell) ? [...this.#found] : [shell, ...this.#found];
    for (const pid of below(roots, all)) this.#found.add(pid);
    return { isListed: true, left: [...this.#found] };
  }
}

function below(roots: readonly number[], all: readonly ProcessInfo[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (let next = roots; next.length > 0; ) {
    const children = all.filter(({ pid, parent }) => next.includes(parent) && !found.has(pid) && !roots.includes(pid));
    for (const { pid } of children) found.add(pid);
    next = children.map(({ pid }) => pid);
  }
  return found;
}
