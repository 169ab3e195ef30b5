// The process table of POSIX systems, from `ps` in the syntax that BSD, macOS and Linux share: each column is an option of
// its own, since BSD and macOS take all that follows a `=` for the column's title; without `ww` they cut lines at 79
// characters.
import { execFile, execFileSync } from 'node:child_process';
import { basename } from 'node:path';
import { COMMAND_MARK } from './marks.ts';
import { type ProcessInfo } from './parts.ts';

/** Dates are printed in the user's language and time zone otherwise, and so would change with them. */
const PLAIN = { LC_ALL: 'C', TZ: 'UTC' };
const MOST_OUTPUT = 64 * 1024 * 1024;
const IDS = ['pid', 'ppid', 'pgid', 'stat', 'lstart'];
/** Ids, state, start time in five words, and the rest of the line. */
const LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(\S.*)$/;

/** Without titles. */
function columns(...names: readonly string[]): string[] {
  return names.flatMap((name) => ['-o', `${name}=`]);
}

export async function listWithPs(): Promise<readonly ProcessInfo[]> {
  return read(await run(['axww', ...columns(...IDS, 'comm')]), basename);
}

/**
 * The processes whose environment has this mark. macOS shows the environment only with `-E`, and never that of its own
 * protected programs.
 */
export async function markedInPs(mark: string, option: 'e' | 'E'): Promise<readonly ProcessInfo[]> {
  const args = option === 'E' ? ['-axEww'] : ['axeww'];
  const lines = await run([...args, ...columns(...IDS, 'command')]);
  const entry = ` ${COMMAND_MARK}=${mark}`;
  const marked = lines.filter((line) => line.includes(`${entry} `) || line.endsWith(entry));
  return read(marked, (command) => basename(command.split(' ', 1)[0] ?? ''));
}

/** Undefined if there is no such process, or only what is left of one that has ended. */
export function psStartTime(pid: number): string | undefined {
  const { state = '', started } = look(pid, ['stat', 'lstart'], /^(?<state>\S+)\s+(?<started>\S.*)$/) ?? {};
  return state.startsWith('Z') ? undefined : started;
}

export function psInfo(pid: number): Pick<ProcessInfo, 'name' | 'parent'> | undefined {
  const { parent, command = '' } = look(pid, ['ppid', 'comm'], /^(?<parent>\d+)\s+(?<command>\S.*)$/) ?? {};
  return parent === undefined ? undefined : { parent: Number(parent), name: basename(command) };
}

function look(pid: number, names: readonly string[], line: RegExp): Readonly<Record<string, string>> | undefined {
  try {
    const text = execFileSync('ps', ['-ww', ...columns(...names), '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, ...PLAIN },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 10_000,
    });
    return line.exec(text.trim())?.groups;
  } catch {
    return undefined;
  }
}

/** `nameOf`: the program's name in the last column. */
function read(lines: readonly string[], nameOf: (command: string) => string): readonly ProcessInfo[] {
  return lines.flatMap((line) => {
    const [, pid, parent, group, state = '', started = '', command = ''] = LINE.exec(line) ?? [];
    if (pid === undefined) return [];
    return {
      pid: Number(pid),
      name: nameOf(command),
      parent: Number(parent),
      group: Number(group),
      session: 0,
      started,
      ended: state.startsWith('Z'),
    };
  });
}

/** Empty if `ps` cannot be run. */
function run(args: readonly string[]): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...PLAIN }, maxBuffer: MOST_OUTPUT };
    execFile('ps', args, options, (_error, stdout) => resolve(stdout.split('\n')));
  });
}
