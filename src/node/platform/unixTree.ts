// Ends, interrupts and finds the processes of a command in its process group, below its shell, and with its mark.
import { type Survivor } from '../../base/commandEnd.ts';
import { type ProcessInfo, type ProcessTree, type StartedProcess } from './parts.ts';

/** What the trees of Linux and POSIX differ in. */
export interface UnixProcesses {
  list(): readonly ProcessInfo[] | Promise<readonly ProcessInfo[]>;
  startTimeOf(pid: number): string | undefined;
  /** When it started, for `marked`. */
  startOf(pid: number): number;
  /** The processes with this mark that did not start before this time. */
  marked(mark: string, since: number): readonly ProcessInfo[] | Promise<readonly ProcessInfo[]>;
}

export class UnixTree implements ProcessTree {
  readonly #processes: UnixProcesses;
  readonly #pid: number;
  readonly #mark: string;
  readonly #started: number;
  /** Processes that were asked to end, with their start times, since process ids are reused. */
  readonly #signalled = new Map<number, string>();

  constructor(processes: UnixProcesses, { pid = 0 }: StartedProcess, mark: string) {
    this.#processes = processes;
    this.#pid = pid;
    this.#mark = mark;
    this.#started = processes.startOf(pid);
  }

  async end(force: boolean, away = true): Promise<void> {
    const marked = away ? await this.#marked() : [];
    for (const pid of new Set([...(await this.#descendants()), ...marked.map((one) => one.pid)])) {
      const started = this.#processes.startTimeOf(pid);
      if (started !== undefined) this.#signalled.set(pid, started);
    }
    const signal = force ? 'SIGKILL' : 'SIGTERM';
    send(-this.#pid, signal);
    for (const pid of this.#left()) send(pid, signal);
  }

  async interrupt(): Promise<void> {
    send(-this.#pid, 'SIGINT');
  }

  async isAlive(): Promise<boolean> {
    if (this.#left().length > 0) return true;
    // Zombies do not count; where no parent reaps them, they stay forever.
    return send(-this.#pid, 0) && (await this.#processes.list()).some((one) => one.group === this.#pid && !one.ended);
  }

  async survivors(): Promise<readonly Survivor[]> {
    return (await this.#marked()).filter(({ group }) => group !== this.#pid);
  }

  async #marked(): Promise<readonly ProcessInfo[]> {
    return this.#processes.marked(this.#mark, this.#started);
  }

  async #descendants(): Promise<readonly number[]> {
    return descendantsOf(this.#pid, await this.#processes.list());
  }

  #left(): number[] {
    return [...this.#signalled]
      .filter(([pid, started]) => this.#processes.startTimeOf(pid) === started)
      .map(([pid]) => pid);
  }
}

export function descendantsOf(pid: number, all: readonly Pick<ProcessInfo, 'pid' | 'parent'>[]): readonly number[] {
  const children = new Map<number, number[]>();
  for (const one of all) children.set(one.parent, [...(children.get(one.parent) ?? []), one.pid]);
  const found: number[] = [];
  for (let next = [pid]; next.length > 0; ) {
    next = next.flatMap((parent) => children.get(parent) ?? []).filter((child) => !found.includes(child));
    found.push(...next);
  }
  return found;
}

/** Ends the process group of a program. */
export function killGroup({ pid }: StartedProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (pid !== undefined) send(-pid, signal);
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    // The process has ended in the meantime.
    return false;
  }
}
