// The process table of Linux, from /proc. Small Linux systems have no `ps`.
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { COMMAND_MARK } from './marks.ts';
import { type ActivitySource, type Peers, type ProcessInfo } from './parts.ts';

const AT_ONCE = 16;
const LOOPBACK = '0100007F';
/** The bits O_WRONLY and O_RDWR of `flags` in fdinfo. */
const WRITES = 0o3;

/** Throws if there is no such process. */
export function readProcess(pid: number): ProcessInfo {
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

export function readProcesses(): ProcessInfo[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.flatMap((pid) => {
    try {
      return [readProcess(pid)];
    } catch {
      return [];
    }
  });
}

/** The kernel's start time is relative to the boot, so the boot id is added to it. */
export function procStartTime(pid: number): string | undefined {
  try {
    const { ended, started } = readProcess(pid);
    return ended ? undefined : `${bootId()}:${started}`;
  } catch {
    return undefined;
  }
}

export function isOfThisBoot(startTime: string): boolean {
  return startTime.startsWith(`${bootId()}:`);
}

function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

export function procMarkOf(pid: number): string | undefined {
  const start = `\0${COMMAND_MARK}=`;
  try {
    const text = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}\0`;
    const at = text.indexOf(start);
    return at === -1 ? undefined : text.slice(at + start.length, text.indexOf('\0', at + 1));
  } catch {
    return undefined;
  }
}

const activity: ActivitySource = {
  list: readProcesses,
  startOf: (pid) => {
    try {
      return Number(readProcess(pid).started);
    } catch {
      return 0;
    }
  },
  countersOf,
  markOf: procMarkOf,
  findWritten,
};

/** Undefined: the kernel was built without the scheduler's counters. */
export const procActivity: ActivitySource | undefined = hasCounters() ? activity : undefined;

function hasCounters(): boolean {
  try {
    return /^\d+ \d+ \d+$/.test(readFileSync('/proc/self/schedstat', 'latin1').trim());
  } catch {
    return false;
  }
}

/** Time on a processor, time in the run queue, and time slices. */
function countersOf(pid: number): ReadonlyMap<string, string> | undefined {
  const counters = new Map<string, string>();
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      counters.set(thread, readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1'));
    }
  } catch {
    // A thread that ended during the read has run.
    return counters.size === 0 ? undefined : counters;
  }
  return counters;
}

async function findWritten(pid: number, writers: ReadonlyMap<string, Set<number>>): Promise<void> {
  for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
    const found = writers.get(await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => ''));
    if (found === undefined) continue;
    const info = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1').catch(() => '');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0', 8);
    if ((flags & WRITES) !== 0) found.add(pid);
  }
}

export const procPeers: Peers = {
  list: readProcesses,
  markOf: procMarkOf,
  holdersOf: async (localPort, remotePort, among) => {
    const inode = inodeOf(await readFile('/proc/net/tcp', 'latin1'), localPort, remotePort);
    return inode === undefined ? [] : holdersOf(`socket:[${inode}]`, among);
  },
  wordsOf: async (pid) => (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').slice(0, -1),
};

/** The inode of the socket with this pair of ports; it is zero until the connection is accepted. */
function inodeOf(table: string, local: number, remote: number): string | undefined {
  const address = (port: number) => `${LOOPBACK}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const ends = ` ${address(local)} ${address(remote)} `;
  const line = table.split('\n').find((one) => one.includes(ends));
  const inode = line?.trim().split(/\s+/)[9];
  return inode === '0' ? undefined : inode;
}

async function holdersOf(target: string, among?: readonly number[]): Promise<readonly number[]> {
  const pids = among ?? (await readdir('/proc')).map(Number).filter(Number.isInteger);
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
