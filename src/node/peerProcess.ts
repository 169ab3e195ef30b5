// Finds the process at the other end of a loopback connection in the kernel's tables, and whether a command of Earshot
// started it. What a program says about itself plays no part in it.
import { type Socket } from 'node:net';
import { printWords } from '../base/printPath.ts';
import { maskSecrets } from '../base/secrets/maskSecrets.ts';
import { type Peers, type ProcessInfo } from './platform/parts.ts';
import { platform } from './platform/platform.ts';
import { processObserver } from './processActivity.ts';

export interface PeerProcess {
  readonly pid: number;
  /** Distinguishes it from a later process with the same id. */
  readonly started: string;
  /** Its command line, with secrets masked. */
  readonly command: string;
  /** The command line of its parent; absent if the process that started it has ended. */
  readonly startedBy?: string;
}

const LONGEST_COMMAND = 300;

/** Undefined: it cannot be determined, such as on other systems than Linux, or if several processes share the socket. */
export async function peerOf({ localPort, remotePort }: Socket): Promise<PeerProcess | undefined> {
  const { peers } = platform;
  if (peers === undefined || localPort === undefined || remotePort === undefined) return undefined;
  try {
    const [pid, other] = await peers.holdersOf(remotePort, localPort);
    return pid === undefined || other !== undefined ? undefined : await describeProcess(peers, pid);
  } catch {
    return undefined;
  }
}

/** `unknown`: its session cannot be determined, or it has ended meanwhile. */
type Origin = 'command' | 'unknown' | 'elsewhere';

/** Whether a command, hook or plugin of Earshot started the process. Also true if that is unknown. */
export function isOfCommand(pid: number): boolean {
  const { peers } = platform;
  return peers === undefined || originFinder(peers, peers.list())(pid) !== 'elsewhere';
}

/**
 * Whether a process of a command, hook or plugin of Earshot is known to hold the other end of a loopback connection. A
 * browser of the user may be any other process.
 */
export async function isHeldByCommand({ localPort, remotePort }: Socket): Promise<boolean> {
  const { peers } = platform;
  if (peers === undefined || localPort === undefined || remotePort === undefined) return false;
  const all = peers.list();
  const originOf = originFinder(peers, all);
  const suspects = all.flatMap(({ pid }) => (originOf(pid) === 'command' ? [pid] : []));
  if (suspects.length === 0) return false;
  return (await peers.holdersOf(remotePort, localPort, suspects).catch(() => [])).length > 0;
}

/**
 * The origin of a process by its ancestors, its session and the mark that commands inherit, and by what was observed
 * while commands ran. A mark that this process itself has inherited does not count: then Earshot runs in a command of
 * another Earshot.
 */
function originFinder(peers: Peers, listed: readonly ProcessInfo[]): (pid: number) => Origin {
  const all = new Map(listed.map((one) => [one.pid, one]));
  const window = ancestorsOf(process.pid, all);
  const own = new Set(window.flatMap((one) => peers.markOf(one.pid) ?? []));
  const ownSessions = new Set(window.map(({ session }) => session));
  const known = new Map<ProcessInfo, boolean>();
  const isMarked = (one: ProcessInfo): boolean => {
    if (window.includes(one)) return false;
    const mark = peers.markOf(one.pid);
    return (mark !== undefined && !own.has(mark)) || processObserver.hasSeen(one);
  };
  const isOfOthers = (one: ProcessInfo): boolean => {
    const is = known.get(one) ?? isMarked(one);
    known.set(one, is);
    return is;
  };
  return (pid) => {
    const session = all.get(pid)?.session;
    if (session === undefined) return 'unknown';
    // Commands have sessions of their own. Session 0 is outside this container.
    const mayBeOfCommand = session !== 0 && !ownSessions.has(session);
    const others = mayBeOfCommand ? listed.filter((one) => one.session === session) : [];
    if ([...ancestorsOf(pid, all), ...others].some(isOfOthers)) return 'command';
    // A session whose first process has ended tells nothing about its origin.
    return mayBeOfCommand && !all.has(session) ? 'unknown' : 'elsewhere';
  };
}

/** The process and its ancestors, without the first process of the system. */
function ancestorsOf(pid: number, all: ReadonlyMap<number, ProcessInfo>): readonly ProcessInfo[] {
  const chain: ProcessInfo[] = [];
  for (let one = all.get(pid); one !== undefined && one.pid > 1 && !chain.includes(one); one = all.get(one.parent)) {
    chain.push(one);
  }
  return chain;
}

async function describeProcess(peers: Peers, pid: number): Promise<PeerProcess | undefined> {
  const started = platform.processes.startTimeOf(pid);
  const command = await commandOf(peers, pid);
  if (started === undefined || command === '') return undefined;
  const parent = platform.processes.info(pid)?.parent ?? 0;
  const startedBy = parent <= 1 ? '' : await commandOf(peers, parent);
  return { pid, started, command, ...(startedBy !== '' && { startedBy }) };
}

async function commandOf(peers: Peers, pid: number): Promise<string> {
  const text = maskSecrets(printWords(await peers.wordsOf(pid)));
  return text.length <= LONGEST_COMMAND ? text : `${text.slice(0, LONGEST_COMMAND)}…`;
}
