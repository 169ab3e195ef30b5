// Finds the process at the other end of a loopback connection in the kernel's tables, and whether a command of Earshot
// started it. What a program says about itself plays no part in it.
import { readdir, readFile, readlink } from 'node:fs/promises';
import { type Socket } from 'node:net';
import { printWords } from '../base/printPath.ts';
import { maskSecrets } from '../base/secrets/maskSecrets.ts';
import { processObserver } from './processActivity.ts';
import { commandMarkOf, type LinuxProcess, linuxProcesses, processInfo, startTimeOf } from './processTree.ts';

export interface PeerProcess {
  readonly pid: number;
  /** Distinguishes it from a later process with the same id. */
  readonly started: string;
  /** Its command line, with secrets masked. */
  readonly command: string;
  /** The command line of its parent; absent if the process that started it has ended. */
  readonly startedBy?: string;
}

const LOOPBACK = '0100007F';
const LONGEST_COMMAND = 300;
const AT_ONCE = 16;

/** Undefined: it cannot be determined, such as on other systems than Linux, or if several processes share the socket. */
export async function peerOf({ localPort, remotePort }: Socket): Promise<PeerProcess | undefined> {
  if (process.platform !== 'linux' || localPort === undefined || remotePort === undefined) return undefined;
  try {
    const inode = inodeOf(await readFile('/proc/net/tcp', 'latin1'), remotePort, localPort);
    if (inode === undefined) return undefined;
    const [pid, other] = await holdersOf(`socket:[${inode}]`);
    return pid === undefined || other !== undefined ? undefined : await describeProcess(pid);
  } catch {
    return undefined;
  }
}

/**
 * Whether a command, hook or plugin of Earshot started the process: by its ancestors, its session and the mark that
 * commands inherit, and by what was observed while commands ran. Also true if its session cannot be determined. A
 * mark that this process itself has inherited does not count: then Earshot runs in a command of another Earshot.
 */
export function isOfCommand(pid: number): boolean {
  try {
    const all = new Map(linuxProcesses().map((one) => [one.pid, one]));
    const window = ancestorsOf(process.pid, all);
    const own = new Set(window.flatMap((one) => commandMarkOf(one.pid) ?? []));
    const { session } = processInfo(pid);
    const isOwnSession = session === window[0]?.session;
    // A session whose first process has ended tells nothing about its origin. Session 0 is outside this container.
    if (!isOwnSession && session !== 0 && !all.has(session)) return true;
    const others = [...all.values()].filter((one) => !isOwnSession && session !== 0 && one.session === session);
    return [...ancestorsOf(pid, all), ...others].some((one) => {
      if (window.includes(one)) return false;
      const mark = commandMarkOf(one.pid);
      return (mark !== undefined && !own.has(mark)) || processObserver.hasSeen(one);
    });
  } catch {
    // It has ended meanwhile.
    return true;
  }
}

/** The process and its ancestors, without the first process of the system. */
function ancestorsOf(pid: number, all: ReadonlyMap<number, LinuxProcess>): readonly LinuxProcess[] {
  const chain: LinuxProcess[] = [];
  for (let one = all.get(pid); one !== undefined && one.pid > 1 && !chain.includes(one); one = all.get(one.parent)) {
    chain.push(one);
  }
  return chain;
}

/** The inode of the socket with this pair of ports; it is zero until the connection is accepted. */
function inodeOf(table: string, local: number, remote: number): string | undefined {
  const address = (port: number) => `${LOOPBACK}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const ends = ` ${address(local)} ${address(remote)} `;
  const line = table.split('\n').find((one) => one.includes(ends));
  const inode = line?.trim().split(/\s+/)[9];
  return inode === '0' ? undefined : inode;
}

/** The processes that have the file open, as far as this user may see that. */
async function holdersOf(target: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger);
  const holders: number[] = [];
  for (let at = 0; at < pids.length; at += AT_ONCE) {
    const found = pids.slice(at, at + AT_ONCE).map(async (pid) => ((await isHeldBy(pid, target)) ? [pid] : []));
    holders.push(...(await Promise.all(found)).flat());
  }
  return holders;
}

async function isHeldBy(pid: number, target: string): Promise<boolean> {
  for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
    if ((await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')) === target) return true;
  }
  return false;
}

async function describeProcess(pid: number): Promise<PeerProcess | undefined> {
  const started = startTimeOf(pid);
  const command = await commandOf(pid);
  if (started === undefined || command === '') return undefined;
  const { parent } = processInfo(pid);
  const startedBy = parent <= 1 ? '' : await commandOf(parent);
  return { pid, started, command, ...(startedBy !== '' && { startedBy }) };
}

async function commandOf(pid: number): Promise<string> {
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').slice(0, -1);
  const text = maskSecrets(printWords(words));
  return text.length <= LONGEST_COMMAND ? text : `${text.slice(0, LONGEST_COMMAND)}…`;
}
