// Observes when a command's processes ran, by the scheduler's counters: a process that did not run wrote nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { setTimeout as startTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { linuxProcesses } from './processTree.ts';

/** The root of an observed tree; see ObservedProcess in core/ports/processes.ts. */
interface Root {
  readonly pid: number | undefined;
  readonly since: number;
  ended(): number | undefined;
}

const PERIOD_MILLISECONDS = 50;
/** Sampling takes at most 1/SHARE of the time. */
const SHARE = 20;
/** File times come from a clock that lags by up to a tick, and so may the counters. */
const SLACK_MILLISECONDS = 25;
/** With more threads, observation stops, and they count as possibly running at any time. */
const MOST_THREADS = 500;
const MOST_SPANS = 20_000;
const AT_ONCE = 16;
/** The bits O_WRONLY and O_RDWR of `flags` in fdinfo. */
const WRITES = 0o3;

/** A period in which something may have run, from and to. */
type Span = [from: number, to: number];

class ProcessActivity {
  readonly #roots: Root[] = [];
  /** Counters of all threads, by process and thread. */
  readonly #threads = new Map<number, ReadonlyMap<string, string>>();
  readonly #spans: Span[] = [];
  /** Time of the last sample. */
  #sampledAt = 0;
  /** The counters are unreadable or too many. */
  #blind = !hasCounters();
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  add(root: Root): void {
    this.#roots.push(root);
    // Its activity before the first sample is unknown.
    this.#sample(root.since);
  }

  async settled(at: number): Promise<void> {
    // Does not wait for times far in the future.
    const until = Math.min(at, Date.now()) + SLACK_MILLISECONDS;
    while (!this.#blind && !this.#disposed && this.#sampledAt <= until) {
      await setTimeout(Math.max(1, until + 1 - Date.now()));
      this.#sample();
    }
  }

  mayHaveRun(at: number): boolean {
    const [from, to] = [at - SLACK_MILLISECONDS, at + SLACK_MILLISECONDS];
    const living = this.#roots.filter(
      ({ since, ended }) => since <= to && (ended() ?? Number.POSITIVE_INFINITY) >= from,
    );
    if (living.length === 0) return false;
    if (this.#blind || this.#sampledAt <= to) return true;
    return this.#spans.some((span) => span[0] <= to && span[1] >= from);
  }

  async heldByOthers(absolute: readonly string[]): Promise<ReadonlySet<string>> {
    const held = new Set<string>();
    if (process.platform !== 'linux' || absolute.length === 0) return held;
    const wanted = new Set(absolute);
    const own = new Set(this.#threads.keys());
    const pids = linuxProcesses().flatMap(({ pid }) => (own.has(pid) ? [] : [pid]));
    for (let at = 0; at < pids.length; at += AT_ONCE) {
      await Promise.all(pids.slice(at, at + AT_ONCE).map((pid) => findWritten(pid, wanted, held)));
    }
    return held;
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }

  /** `since`: processes may have run since then, whatever the counters say. */
  #sample(since?: number): void {
    if (this.#blind || this.#disposed) return;
    clearTimeout(this.#timer);
    const began = Date.now();
    const before = this.#sampledAt;
    try {
      const ran = this.#compare();
      if (ran || since !== undefined) this.#find();
      if (ran || since !== undefined) this.#remember(Math.min(since ?? began, before || began), Date.now());
    } catch {
      this.#blind = true;
      return;
    }
    this.#sampledAt = began;
    const took = Date.now() - began;
    this.#timer = startTimer(() => this.#sample(), Math.max(PERIOD_MILLISECONDS, took * SHARE)).unref();
  }

  /** Whether any of them has run since the last sample. */
  #compare(): boolean {
    let ran = false;
    for (const [pid, before] of this.#threads) {
      const now = countersOf(pid);
      if (now === undefined) this.#threads.delete(pid);
      else this.#threads.set(pid, now);
      ran ||= now === undefined || !haveSameEntries(before, now);
    }
    return ran;
  }

  /** Only processes that ran can have started others. Orphans are known from earlier samples. */
  #find(): void {
    const children = new Map<number, number[]>();
    for (const { pid, parent } of linuxProcesses()) children.set(parent, [...(children.get(parent) ?? []), pid]);
    const roots = this.#roots.flatMap(({ pid, ended }) => (pid === undefined || ended() !== undefined ? [] : [pid]));
    const known = [...this.#threads.keys()];
    for (let next = [...roots, ...known.flatMap((pid) => children.get(pid) ?? [])]; next.length > 0; ) {
      const added = next.filter((pid) => !this.#threads.has(pid));
      for (const pid of added) {
        const counters = countersOf(pid);
        if (counters !== undefined) this.#threads.set(pid, counters);
      }
      next = added.flatMap((pid) => children.get(pid) ?? []);
    }
    const threads = [...this.#threads.values()].reduce((sum, { size }) => sum + size, 0);
    if (threads > MOST_THREADS) this.#blind = true;
  }

  #remember(from: number, to: number): void {
    const last = this.#spans.at(-1);
    if (last !== undefined && last[1] >= from) {
      last[0] = Math.min(last[0], from);
      last[1] = to;
      return;
    }
    // Merges the two oldest spans.
    const [first, second] = this.#spans;
    if (this.#spans.length >= MOST_SPANS && first !== undefined && second !== undefined) {
      second[0] = first[0];
      this.#spans.shift();
    }
    this.#spans.push([from, to]);
  }
}

function hasCounters(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return /^\d+ \d+ \d+$/.test(readFileSync('/proc/self/schedstat', 'latin1').trim());
  } catch {
    return false;
  }
}

/** Time on a processor, time in the run queue, and time slices. Undefined if there is no such process. */
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

function haveSameEntries(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([thread, counters]) => other.get(thread) === counters);
}

/** Adds the wanted files that the process has open for writing. */
async function findWritten(pid: number, wanted: ReadonlySet<string>, found: Set<string>): Promise<void> {
  for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
    const path = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
    if (!wanted.has(path)) continue;
    const info = await readFile(`/proc/${pid}/fdinfo/${descriptor}`, 'latin1').catch(() => '');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? '0', 8);
    if ((flags & WRITES) !== 0) found.add(path);
  }
}

export const processObserver = { watch: () => new ProcessActivity() };
