// Decides how a command is started so that it can be ended with everything it started, and how a process is known again.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { type Survivor } from '../base/commandEnd.ts';

export interface ShellProgram {
  readonly path: string;
  /** Stand before the command line. */
  readonly args: readonly string[];
}

export interface ShellCommand {
  readonly command: string;
  readonly shell: ShellProgram;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Without it the command reads from nothing: some programs wait for ever, or search the wrong place, where input is open. */
  readonly input: boolean;
}

const WINDOWS = process.platform === 'win32';

/** In a process group of its own; output as it comes. */
export function spawnShell({ command, shell, folder, env, input }: ShellCommand): ChildProcess {
  return spawn(shell.path, [...shell.args, command], {
    cwd: folder,
    env,
    detached: !WINDOWS,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
    // cmd.exe takes the rest of its line as it is; quoting it again would change the command.
    windowsVerbatimArguments: WINDOWS && /(^|[\\/])cmd(\.exe)?$/i.test(shell.path),
  });
}

/** A program with its arguments, without a shell; `fed`: it is given its input. */
export function spawnProgram(program: string, args: readonly string[], folder: string, fed = false): ChildProcess {
  return spawn(program, args, {
    cwd: folder,
    detached: process.platform !== 'win32',
    stdio: [fed ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
}

/** For a program that starts no others: its group. */
export function endGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) send(WINDOWS ? pid : -pid, 'SIGKILL');
}

/**
 * A variable in the environment of a command that everything it starts inherits. On Linux it shows what left the group and
 * has another parent by now; one that clears its environment, and all of this on other systems, cannot be known.
 */
export const COMMAND_MARK = 'EARSHOT_COMMAND';

/** Everything that a command started: its process group, what left the group but still descends from it, what has its mark. */
export class ProcessTree {
  readonly #pid: number;
  readonly #mark: string;
  readonly #started: number;
  /** What was told to end, with its start time: the number alone may be another's by now. */
  readonly #told = new Map<number, string>();

  /** `mark`: the value of COMMAND_MARK that the command was given. */
  constructor(pid: number, mark: string) {
    this.#pid = pid;
    this.#mark = mark;
    this.#started = startTicksOf(pid);
  }

  /** `force` leaves no choice; without `away` what has left the group for good is spared. Resolves once the signals are sent. */
  async end(force: boolean, away = true): Promise<void> {
    if (WINDOWS) {
      await run('taskkill', ['/T', ...(force ? ['/F'] : []), '/PID', String(this.#pid)]);
      return;
    }
    const marked = away ? this.#marked().map(({ pid }) => pid) : [];
    for (const pid of new Set([...(await descendantsOf(this.#pid)), ...marked])) {
      const started = startTimeOf(pid);
      if (started !== undefined) this.#told.set(pid, started);
    }
    const signal = force ? 'SIGKILL' : 'SIGTERM';
    send(-this.#pid, signal);
    for (const pid of this.#descendants()) send(pid, signal);
  }

  /** As Ctrl+C in a terminal would. */
  interrupt(): void {
    send(WINDOWS ? this.#pid : -this.#pid, 'SIGINT');
  }

  /** Whether anything is left, also after the command itself has ended. Windows cannot say. */
  get isAlive(): boolean {
    return !WINDOWS && (hasGroup(this.#pid) || this.#descendants().length > 0);
  }

  /** What it started and what has left its group: it is not ended with the command. Empty where that cannot be known. */
  survivors(): readonly Survivor[] {
    return this.#marked().filter(({ group }) => group !== this.#pid);
  }

  #marked(): LinuxProcess[] {
    if (process.platform !== 'linux') return [];
    // What is older than the command cannot be of it.
    return linuxProcesses().filter(
      ({ pid, started, ended }) => !ended && Number(started) >= this.#started && hasMark(pid, this.#mark),
    );
  }

  #descendants(): number[] {
    return [...this.#told].filter(([pid, started]) => startTimeOf(pid) === started).map(([pid]) => pid);
  }
}

/** What has ended and was not yet taken note of by its parent does not count; where nobody takes note it stays for ever. */
function hasGroup(pid: number): boolean {
  if (process.platform !== 'linux') return send(-pid, 0);
  return send(-pid, 0) && linuxProcesses().some(({ group, ended }) => group === pid && !ended);
}

/** Tells a process from a later one with the same number; undefined if there is none. */
export function startTimeOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') return linuxStartTime(pid);
    if (!WINDOWS) return output('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return output('powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`]);
  } catch {
    return undefined;
  }
}

/** Whether a start time is of this start of the machine, as far as that can be known. */
export function isSameBoot(startTime: string): boolean {
  return process.platform === 'linux' && startTime.startsWith(`${bootId()}:`);
}

/** Since the machine's start, so that start is named too. */
function linuxStartTime(pid: number): string | undefined {
  const { ended, started } = readProcess(pid);
  return ended ? undefined : `${bootId()}:${started}`;
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

function startTicksOf(pid: number): number {
  if (process.platform !== 'linux') return 0;
  try {
    return Number(readProcess(pid).started);
  } catch {
    return 0;
  }
}

/** Of other users it cannot be read. */
function hasMark(pid: number, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`.includes(`\0${COMMAND_MARK}=${mark}\0`);
  } catch {
    return false;
  }
}

interface LinuxProcess {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  readonly group: number;
  readonly started: string;
  readonly ended: boolean;
}

function readProcess(pid: number): LinuxProcess {
  // The name stands in parentheses and may contain anything.
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const end = text.lastIndexOf(')');
  const fields = text
    .slice(end + 1)
    .trim()
    .split(' ');
  const [state = '', parent, group] = fields;
  return {
    pid,
    name: text.slice(text.indexOf('(') + 1, end),
    parent: Number(parent),
    group: Number(group),
    started: fields[19] ?? '',
    ended: state === 'Z' || state === 'X',
  };
}

/** Every process of a Linux machine that can be read. */
export function linuxProcesses(): LinuxProcess[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.flatMap((pid) => {
    try {
      return [readProcess(pid)];
    } catch {
      return [];
    }
  });
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    // It ended by itself in between.
    return false;
  }
}

async function descendantsOf(pid: number): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const [child, parent] of await parents()) children.set(parent, [...(children.get(parent) ?? []), child]);
  const found: number[] = [];
  for (let next = [pid]; next.length > 0; ) {
    next = next.flatMap((parent) => children.get(parent) ?? []).filter((child) => !found.includes(child));
    found.push(...next);
  }
  return found;
}

/** Every process with its parent. Small Linux machines have no `ps`. */
async function parents(): Promise<(readonly [number, number])[]> {
  if (process.platform === 'linux') return linuxProcesses().map(({ pid, parent }) => [pid, parent]);
  const lines = (await run('ps', ['-A', '-o', 'pid=,ppid='])).trim().split('\n');
  return lines.map((line) => line.trim().split(/\s+/).map(Number)).map(([pid = 0, parent = 0]) => [pid, parent]);
}

/** What it printed; nothing if it cannot be run. */
function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { windowsHide: true, maxBuffer: 16 * 1024 * 1024 }, (_error, stdout) => resolve(stdout));
  });
}

function output(program: string, args: readonly string[]): string | undefined {
  const text = execFileSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    windowsHide: true,
  });
  return text.trim() === '' ? undefined : text.trim();
}
