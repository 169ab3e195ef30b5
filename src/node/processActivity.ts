// Observes when a command's processes ran, by the scheduler's counters: a process that did not run wrote nothing.
import { setTimeout as startTimer } from 'node:timers';
import { setTimeout } from 'node:timers/promises';
import { type ActivitySource, type ProcessInfo } from './platform/parts.ts';
import { platform } from './platform/platform.ts';

/** The root of an observed tree; see ObservedProcess in core/ports/processes.ts. */
interface Root {
  readonly pid: number | undefined;
  readonly mark?: string | undefined;
  readonly since: number;
  ended(): number | undefined;
}

const PERIOD_MILLISECONDS = 50;
/** Sampling takes at most 1/SHARE of one processor's time. */
const SHARE = 20;
/** File times come from a clock that lags by up to a tick, and so may the counters. */
const SLACK_MILLISECONDS = 25;
/** With more threads, observation stops, and they count as possibly running at any time. */
const MOST_THREADS = 500;
const MOST_SPANS = 20_000;
/** Listings in one sample; a command that starts processes all the time runs all the time. */
const MOST_LISTINGS = 5;
const AT_ONCE = 16;
/** Processes that are remembered after their command. */
const MOST_SEEN = 20_000;

/** See ProcessWatch in core/ports/processes.ts. */
interface ProcessWatch {
  readonly isObserving: boolean;
  add(root: Root): void;
  settled(at: number): Promise<void>;
  mayHaveRun(at: number): boolean;
  heldByOthers(absolute: readonly string[]): Promise<ReadonlySet<string>>;
  dispose(): void;
}

/** A period in which something may have run, from and to. */
type Span = [from: number, to: number];

class ProcessActivity implements ProcessWatch {
  readonly isObserving = true;
  readonly #source: ActivitySource;
  readonly #seen: SeenProcesses;
  readonly #roots: Root[] = [];
  /** The earliest start of a root, in ticks since the boot; zero if it is unknown. */
  #startTicks = Number.POSITIVE_INFINITY;
  /** Counters of all threads, by process and thread. */
  readonly #threads = new Map<number, ReadonlyMap<string, string>>();
  readonly #spans: Span[] = [];
  /** The last listing found new processes. They may have started others between the listing and the first counters. */
  #hasNew = false;
  /** Time of the last sample. */
  #sampledAt = 0;
  /** The counters are unreadable or too many. */
  #blind = false;
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(source: ActivitySource, seen: SeenProcesses) {
    this.#source = source;
    this.#seen = seen;
  }

  add(root: Root): void {
    this.#roots.push(root);
    this.#startTicks = Math.min(this.#startTicks, root.pid === undefined ? 0 : this.#source.startOf(root.pid));
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
    if (absolute.length === 0) return new Set();
    const writers = new Map<string, Set<number>>(absolute.map((path) => [path, new Set()]));
    const all = this.#source.list();
    const own = this.#ownOf(all);
    const pids = all.flatMap(({ pid }) => (own.has(pid) ? [] : [pid]));
    for (let at = 0; at < pids.length; at += AT_ONCE) {
      await Promise.all(pids.slice(at, at + AT_ONCE).map((pid) => this.#source.findWritten(pid, writers)));
    }
    // A process may have lost its parent during the search, and one that has ended holds nothing.
    const others = new Set(this.#othersOf([...writers.values()].flatMap((found) => [...found])));
    return new Set([...writers].flatMap(([path, found]) => ([...found].some((pid) => others.has(pid)) ? [path] : [])));
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
    const used = process.cpuUsage();
    const before = this.#sampledAt;
    try {
      const ran = this.#compare() || this.#hasNew || since !== undefined;
      if (ran) this.#find();
      if (ran) this.#remember(Math.min(since ?? began, before || began), Date.now());
    } catch {
      this.#blind = true;
      return;
    }
    this.#sampledAt = began;
    // Not the elapsed time, which is longer on a busy machine: rare samples say less about who wrote a file.
    const { user, system } = process.cpuUsage(used);
    const took = Math.min((user + system) / 1000, Date.now() - began);
    this.#timer = startTimer(() => this.#sample(), Math.max(PERIOD_MILLISECONDS, took * SHARE)).unref();
  }

  /** Whether any of them has run since the last sample. */
  #compare(): boolean {
    let ran = false;
    for (const [pid, before] of this.#threads) {
      const now = this.#source.countersOf(pid);
      if (now === undefined) this.#threads.delete(pid);
      else this.#threads.set(pid, now);
      ran ||= now === undefined || !haveSameEntries(before, now);
    }
    return ran;
  }

  /**
   * Only processes that ran can have started others. The counters of known processes were read before this listing, so
   * what they start after it changes their counters. After new processes another listing follows at once: a later one
   * would count the time until then as possibly active.
   */
  #find(): void {
    this.#hasNew = true;
    for (let listings = 0; this.#hasNew && listings < MOST_LISTINGS; listings += 1) {
      this.#hasNew = false;
      const all = this.#source.list();
      const own = this.#ownOf(all);
      this.#seen.add(all.filter(({ pid }) => own.has(pid) && !this.#threads.has(pid)));
      for (const pid of own) {
        if (this.#threads.has(pid)) continue;
        this.#hasNew = true;
        const counters = this.#source.countersOf(pid);
        if (counters !== undefined) this.#threads.set(pid, counters);
      }
    }
    const threads = [...this.#threads.values()].reduce((sum, { size }) => sum + size, 0);
    if (threads > MOST_THREADS) this.#blind = true;
  }

  /**
   * Those of all processes that belong to the trees: by their ancestors or, if one of these has ended, by the session
   * or the mark that they inherited.
   */
  #ownOf(all: readonly ProcessInfo[]): ReadonlySet<number> {
    const children = new Map<number, number[]>();
    for (const { pid, parent } of all) children.set(parent, [...(children.get(parent) ?? []), pid]);
    // The id of a root that has ended may be in use again. A mark is not, and what outlives the command has it.
    const roots = new Set(this.#roots.flatMap(({ pid, ended }) => (ended() === undefined ? [pid] : [])));
    const marks = new Set(this.#roots.flatMap(({ mark }) => mark ?? []));
    const isOwn = ({ pid, session, started, ended }: ProcessInfo) => {
      if (this.#threads.has(pid) || roots.has(pid) || roots.has(session)) return true;
      // Processes older than all roots have none of their marks.
      if (marks.size === 0 || ended || Number(started) < this.#startTicks) return false;
      return marks.has(this.#source.markOf(pid) ?? '');
    };
    const own = new Set<number>();
    for (let next = all.filter(isOwn).map(({ pid }) => pid); next.length > 0; ) {
      const added = next.filter((pid) => !own.has(pid));
      for (const pid of added) own.add(pid);
      next = added.flatMap((pid) => children.get(pid) ?? []);
    }
    return own;
  }

  /** Those of the processes that still run and do not belong to the trees. */
  #othersOf(pids: readonly number[]): readonly number[] {
    if (pids.length === 0) return [];
    const all = this.#source.list();
    const own = this.#ownOf(all);
    const running = new Set(all.flatMap(({ pid, ended }) => (ended ? [] : [pid])));
    return pids.filter((pid) => !own.has(pid) && running.has(pid));
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

function haveSameEntries(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([thread, counters]) => other.get(thread) === counters);
}

type Identity = Pick<ProcessInfo, 'pid' | 'started'>;

/** Processes of commands that were found while these ran, so that they are still known after they left their command. */
class SeenProcesses {
  /** Start times by process id. */
  readonly #started = new Map<number, string>();

  add(found: readonly Identity[]): void {
    for (const { pid, started } of found) {
      this.#started.delete(pid);
      this.#started.set(pid, started);
    }
    for (const oldest of this.#started.keys()) {
      if (this.#started.size <= MOST_SEEN) break;
      this.#started.delete(oldest);
    }
  }

  has({ pid, started }: Identity): boolean {
    return this.#started.get(pid) === started;
  }
}

/** Where nothing can be observed. */
const UNOBSERVED: ProcessWatch = {
  isObserving: false,
  add: () => undefined,
  settled: async () => undefined,
  mayHaveRun: () => true,
  heldByOthers: async () => new Set(),
  dispose: () => undefined,
};

export function createProcessObserver(source: ActivitySource | undefined) {
  const seen = new SeenProcesses();
  return {
    watch: (): ProcessWatch => (source === undefined ? UNOBSERVED : new ProcessActivity(source, seen)),
    /** Whether the process was found among those of a command, even if nothing connects it to the command any more. */
    hasSeen: (process: Identity) => seen.has(process),
  };
}

export const processObserver = createProcessObserver(platform.activity);
