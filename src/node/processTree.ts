// Starts commands so that their whole process tree can be ended, and identifies processes across restarts.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { type Survivor } from '../base/commandEnd.ts';

export interface ShellProgram {
  readonly path: string;
  /** Arguments before the command line. */
  readonly args: readonly string[];
}

export interface ShellCommand {
  readonly command: string;
  readonly shell: ShellProgram;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** If false, the input is closed: with an open input some programs wait forever or read from it instead of files. */
  readonly input: boolean;
}

const WINDOWS = process.platform === 'win32';

/** Starts the command in its own process group. */
export function spawnShell({ command, shell, folder, env, input }: ShellCommand): ChildProcess {
  return spawn(shell.path, [...shell.args, command], {
    cwd: folder,
    env,
    detached: !WINDOWS,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
    // cmd.exe takes the rest of the line verbatim; quoting would change the command.
    windowsVerbatimArguments: WINDOWS && /(^|[\\/])cmd(\.exe)?$/i.test(shell.path),
  });
}

/** Starts a program without a shell; `fed`: its input is a pipe. */
export function spawnProgram(
  program: string,
  args: readonly string[],
  folder: string,
  fed = false,
  env: NodeJS.ProcessEnv = process.env,
): ChildProcess {
  return spawn(program, args, {
    cwd: folder,
    env,
    detached: process.platform !== 'win32',
    stdio: [fed ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
  });
}

/** Kills the process group of a program that starts no other programs. */
export function endGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) send(WINDOWS ? pid : -pid, 'SIGKILL');
}

/**
 * An environment variable of a command that its processes inherit. On Linux it identifies those that left the group and
 * have another parent. Processes that clear their environment, and those on other systems, cannot be identified.
 */
export const COMMAND_MARK = 'EARSHOT_COMMAND';

/** All processes of a command: its process group, descendants outside the group, and processes with its mark. */
export class ProcessTree {
  readonly #pid: number;
  readonly #mark: string;
  readonly #started: number;
  /** Processes that were asked to end, with their start times, since process ids are reused. */
  readonly #signalled = new Map<number, string>();

  /** `mark`: the command's value of COMMAND_MARK. */
  constructor(pid: number, mark: string) {
    this.#pid = pid;
    this.#mark = mark;
    this.#started = startTicksOf(pid);
  }

  /** `force` kills; without `away` processes that left the group are spared. Resolves once the signals are sent. */
  async end(force: boolean, away = true): Promise<void> {
    if (WINDOWS) {
      await run('taskkill', ['/T', ...(force ? ['/F'] : []), '/PID', String(this.#pid)]);
      return;
    }
    const marked = away ? this.#marked().map(({ pid }) => pid) : [];
    for (const pid of new Set([...(await descendantsOf(this.#pid)), ...marked])) {
      const started = startTimeOf(pid);
      if (started !== undefined) this.#signalled.set(pid, started);
    }
    const signal = force ? 'SIGKILL' : 'SIGTERM';
    send(-this.#pid, signal);
    for (const pid of this.#descendants()) send(pid, signal);
  }

  /** Does the same as Ctrl+C in a terminal. */
  interrupt(): void {
    send(WINDOWS ? this.#pid : -this.#pid, 'SIGINT');
  }

  /** Whether any process is left, even if the command has ended. Always false on Windows, where this is unknown. */
  get isAlive(): boolean {
    return !WINDOWS && (hasGroup(this.#pid) || this.#descendants().length > 0);
  }

  /** Processes that left the command's group and are not ended with it. Empty where they cannot be determined. */
  survivors(): readonly Survivor[] {
    return this.#marked().filter(({ group }) => group !== this.#pid);
  }

  #marked(): LinuxProcess[] {
    if (process.platform !== 'linux') return [];
    // Processes older than the command cannot belong to it.
    return linuxProcesses().filter(
      ({ pid, started, ended }) => !ended && Number(started) >= this.#started && commandMarkOf(pid) === this.#mark,
    );
  }

  #descendants(): number[] {
    return [...this.#signalled].filter(([pid, started]) => startTimeOf(pid) === started).map(([pid]) => pid);
  }
}

/** Zombies do not count; where no parent reaps them, they stay forever. */
function hasGroup(pid: number): boolean {
  if (process.platform !== 'linux') return send(-pid, 0);
  return send(-pid, 0) && linuxProcesses().some(({ group, ended }) => group === pid && !ended);
}

/** Distinguishes a process from a later one with the same id; undefined if there is none. */
export function startTimeOf(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') return linuxStartTime(pid);
    if (!WINDOWS) return output('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return output('powershell', ['-NoProfile', '-Command', `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`]);
  } catch {
    return undefined;
  }
}

/** Whether a start time belongs to the current boot; false where this cannot be determined. */
export function isSameBoot(startTime: string): boolean {
  return process.platform === 'linux' && startTime.startsWith(`${bootId()}:`);
}

/** The kernel's start time is relative to the boot, so the boot id is added to it. */
function linuxStartTime(pid: number): string | undefined {
  const { ended, started } = processInfo(pid);
  return ended ? undefined : `${bootId()}:${started}`;
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

/** Zero if it is unknown. */
export function startTicksOf(pid: number): number {
  if (process.platform !== 'linux') return 0;
  try {
    return Number(processInfo(pid).started);
  } catch {
    return 0;
  }
}

/** The mark of the command that started the process. Undefined also for processes with an unreadable environment. */
export function commandMarkOf(pid: number): string | undefined {
  const start = `\0${COMMAND_MARK}=`;
  try {
    const text = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`;
    const at = text.indexOf(start);
    return at === -1 ? undefined : text.slice(at + start.length, text.indexOf('\0', at + 1));
  } catch {
    return undefined;
  }
}

export interface LinuxProcess {
  readonly pid: number;
  readonly name: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly started: string;
  readonly ended: boolean;
}

/** Reads the state of a process on Linux; throws if there is no such process. */
export function processInfo(pid: number): LinuxProcess {
  // The name is in parentheses and may contain anything.
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const end = text.lastIndexOf(')');
  const fields = text
    .slice(end + 1)
    .trim()
    .split(' ');
  const [state = '', parent, group, session] = fields;
  return {
    pid,
    name: text.slice(text.indexOf('(') + 1, end),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: fields[19] ?? '',
    ended: state === 'Z' || state === 'X',
  };
}

/** All readable processes of a Linux machine. */
export function linuxProcesses(): LinuxProcess[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.flatMap((pid) => {
    try {
      return [processInfo(pid)];
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
    // The process has ended in the meantime.
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

/** All processes with their parents. Small Linux systems have no `ps`. */
async function parents(): Promise<(readonly [number, number])[]> {
  if (process.platform === 'linux') return linuxProcesses().map(({ pid, parent }) => [pid, parent]);
  const lines = (await run('ps', ['-A', '-o', 'pid=,ppid='])).trim().split('\n');
  return lines.map((line) => line.trim().split(/\s+/).map(Number)).map(([pid = 0, parent = 0]) => [pid, parent]);
}

/** The output of the program; empty if it cannot be run. */
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
