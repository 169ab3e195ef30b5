// Inside the extension host: idle memory and CPU with a large folder, with or without Earshot.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Listening, startScripted } from '../../support/vscode/listeningConversation.ts';
import { writeResult, readOptions } from './report.ts';

export interface IdleOptions {
  /** The files that a conversation has read; empty to measure without Earshot. */
  readonly seen: readonly string[];
  readonly seconds: number;
}

export interface IdleResult {
  readonly milliseconds: number;
  /** Memory of the process, and of its live JavaScript objects. */
  readonly megabytes: number;
  readonly heldMegabytes: number;
  /** Memory of the editor's file watcher process; absent if it cannot be found. */
  readonly watcher?: { readonly milliseconds: number; readonly megabytes: number };
}

const IDLE_SECONDS = 5;
/** Most CPU time within these seconds that counts as idle. */
const IDLE_MILLISECONDS = 150;
const MOST_WAITS = 60;

/** Called by VS Code. */
export async function run(): Promise<void> {
  const { seen, seconds } = readOptions() as IdleOptions;
  const end = seen.length === 0 ? undefined : await listen(seen);
  // Waits until the editor and its extensions have read the folder.
  for (let wait = 0; wait < MOST_WAITS && (await used(IDLE_SECONDS)) > IDLE_MILLISECONDS; wait += 1);
  const watcher = findWatcher();
  const before = watcher === undefined ? undefined : readProcess(watcher);
  const milliseconds = await used(seconds);
  const after = watcher === undefined ? undefined : readProcess(watcher);
  collectGarbage();
  const { rss, heapUsed } = process.memoryUsage();
  writeResult({
    milliseconds,
    megabytes: rss / 1024 / 1024,
    heldMegabytes: heapUsed / 1024 / 1024,
    ...(before &&
      after && { watcher: { milliseconds: after.milliseconds - before.milliseconds, megabytes: after.megabytes } }),
  } satisfies IdleResult);
  await end?.();
}

/** The editor does not start its extension hosts with --expose-gc. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

async function listen(seen: readonly string[]): Promise<() => Promise<void>> {
  const { earshot, server } = await startScripted();
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  await new Listening(log, earshot, server).read(...seen);
  return async () => {
    await earshot.close(log.id);
    await server.stop();
  };
}

/** CPU milliseconds that this process uses in this many seconds. */
async function used(seconds: number): Promise<number> {
  const before = process.cpuUsage();
  await pause(seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The watcher and this process have the same parent, the server. */
function findWatcher(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.find((pid) => {
    try {
      const parent = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
      return parent === process.ppid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fileWatcher');
    } catch {
      // The process has ended meanwhile.
      return false;
    }
  });
  return found === undefined ? undefined : Number(found);
}

/** The kernel counts CPU time in hundredths of a second. */
function readProcess(pid: number): { milliseconds: number; megabytes: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(12, 14).map(Number);
  const kilobytes = Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return { milliseconds: (user + system) * 10, megabytes: kilobytes / 1024 };
}
