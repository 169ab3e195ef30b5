// Decides when a touched file is read, and whether its content counts: once it was quiet, never twice at the same time,
// and only if two reads were equal, so that a half-written file is not reported.
import { backOff, pause, Sequences } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { GONE } from '../../core/files/fileState.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type Authorship } from './authorship.ts';
import { type CurrentFile, type SettledFile } from './currentFile.ts';
import { type FileReports } from './fileReports.ts';

const QUIET_MILLISECONDS = 100;
/** A file that is written continuously is compared after this long. */
const MOST_QUIET_MILLISECONDS = 2000;

/** How long a file must stay unchanged. */
const REST_MILLISECONDS = 200;
/** An empty, truncated or missing file is often about to be written, and a moved file may be found in this time. */
const DOUBTFUL_MILLISECONDS = 600;
/** A program that writes in steps may pause between them. */
const LONGEST_REST_MILLISECONDS = 1600;
/** After this long without two equal reads, the file is reported as changing. */
const RESTLESS_MILLISECONDS = 5000;
/** How often a file is read for one sample until two reads are equal. */
const MOST_READS = 4;

export interface ScheduledComparisonsDeps {
  readonly clock: Clock;
  /** A file is compared once it was not touched for this long, since programs often write in several steps. */
  readonly quietMilliseconds: number;
  /** A file that is touched continuously is compared after this long; absent: only once it is quiet. */
  readonly mostMilliseconds?: number;
  /** `touched`: when it was first touched since the last comparison; undefined if that was not observed. */
  compare(path: string, touched: number | undefined): Promise<void>;
  report(error: unknown): void;
}

interface Waiting {
  readonly timer: Disposable;
  readonly touched: number | undefined;
  readonly since: number;
}

export class ScheduledComparisons implements Disposable {
  readonly #deps: ScheduledComparisonsDeps;
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Sequences<string>();
  #ended = false;

  constructor(deps: ScheduledComparisonsDeps) {
    this.#deps = deps;
  }

  /** `observed`: the file was touched now; otherwise it only needs a comparison. */
  soon(path: string, observed: boolean, milliseconds = this.#deps.quietMilliseconds): void {
    if (this.#ended) return;
    const { clock } = this.#deps;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    const now = clock.now();
    const touched = before?.touched ?? (observed ? now : undefined);
    const since = before?.since ?? now;
    const longest = this.#deps.mostMilliseconds ?? Number.POSITIVE_INFINITY;
    const wait = Math.min(milliseconds, Math.max(0, since + Math.max(longest, milliseconds) - now));
    const timer = clock.after(wait, () => this.#due(path, touched));
    this.#waiting.set(path, { timer, touched, since });
  }

  /** Compares at once, or right after a running comparison of the file. */
  now(path: string): void {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched);
  }

  /** Compares at once, as if the file was touched now; resolves after the comparison. */
  async observe(path: string): Promise<void> {
    if (this.#ended) return;
    const before = this.#waiting.get(path);
    before?.timer.dispose();
    this.#due(path, before?.touched ?? this.#deps.clock.now());
    await this.#running.settled(path);
  }

  /** Files that were touched and not compared since. */
  get waiting(): ReadonlySet<string> {
    return new Set(this.#waiting.keys());
  }

  dispose(): void {
    this.#ended = true;
    for (const { timer } of this.#waiting.values()) timer.dispose();
    this.#waiting.clear();
  }

  #due(path: string, touched: number | undefined): void {
    this.#waiting.delete(path);
    const compare = async () => {
      if (!this.#ended) await this.#deps.compare(path, touched);
    };
    void this.#running.run(path, compare).catch((error: unknown) => this.#deps.report(error));
  }
}

export interface SettledFilesDeps {
  readonly clock: Clock;
  readonly authorship: Authorship;
  /** Undefined if the state of the file does not count. */
  readonly read: (path: string) => Promise<CurrentFile | undefined>;
  readonly reports: FileReports;
  report(error: unknown): void;
}

/** Reads touched files until they are settled, and passes them on to the reports. */
export class SettledFiles implements Disposable {
  readonly #deps: SettledFilesDeps;
  readonly #comparisons: ScheduledComparisons;
  readonly #steadiness: Steadiness;
  /** Files to read when the call that edits them has ended. */
  readonly #edited = new Set<string>();
  readonly #closing = new AbortController();
  #ended = false;

  constructor(deps: SettledFilesDeps) {
    this.#deps = deps;
    this.#steadiness = new Steadiness(deps.clock);
    this.#comparisons = new ScheduledComparisons({
      clock: deps.clock,
      quietMilliseconds: QUIET_MILLISECONDS,
      mostMilliseconds: MOST_QUIET_MILLISECONDS,
      compare: (path, touched) => this.#settle(path, touched),
      report: (error) => deps.report(error),
    });
  }

  /** `observed`: the file was touched now; otherwise it only needs a comparison. */
  soon(path: string, observed: boolean): void {
    this.#comparisons.soon(path, observed);
  }

  now(path: string): void {
    this.#comparisons.now(path);
  }

  /** Files that were touched and not read since. */
  get waiting(): ReadonlySet<string> {
    return this.#comparisons.waiting;
  }

  /** Reads files at once, and those that changed a second time. Files that keep changing are left for later. */
  async observe(paths: readonly string[]): Promise<void> {
    let left = paths;
    for (let reads = 0; left.length > 0 && reads < MOST_READS; reads += 1) {
      await Promise.all(left.map((path) => this.#comparisons.observe(path)));
      // A busy process fires timers early, so the second read may come too soon.
      const waits = left.map((path) => [path, this.#steadiness.waitFor(path)] as const);
      left = waits.flatMap(([path, wait]) => (wait === undefined ? [] : [path]));
      const wait = Math.max(...waits.map(([, one = 0]) => one));
      if (left.length > 0 && !(await pause(this.#deps.clock, wait, this.#closing.signal))) return;
    }
  }

  /** Call when calls of conversations have begun or ended. */
  callsChanged(): void {
    for (const path of this.#edited) {
      if (this.#deps.authorship.isBeingEdited(path)) continue;
      this.#edited.delete(path);
      this.soon(path, true);
    }
  }

  forget(path: string): void {
    this.#steadiness.forget(path);
  }

  dispose(): void {
    this.#ended = true;
    this.#closing.abort();
    this.#comparisons.dispose();
  }

  async #settle(path: string, touched: number | undefined): Promise<void> {
    const { authorship, read, reports } = this.#deps;
    if (authorship.isBeingEdited(path)) {
      this.#edited.add(path);
      return;
    }
    const file = await read(path);
    if (file === undefined || this.#ended) return;
    const settled = await this.#atRest({ ...file, touched });
    if (settled !== undefined) await reports.report(settled);
  }

  /** Undefined if a state that some conversation does not know was found only once; the file is then read again. */
  async #atRest(file: SettledFile): Promise<SettledFile | undefined> {
    const { reports } = this.#deps;
    const { path, bytes, touched, git } = file;
    const hash = file.hash ?? GONE;
    if (reports.isKnown(path, hash)) {
      this.#steadiness.forget(path);
      return file;
    }
    const doubtful = bytes === undefined || isCutShort(bytes, await reports.lastSeen(path));
    const verdict = this.#steadiness.judge(path, { hash, doubtful, touched, git });
    if (verdict.steady) return { ...file, touched: verdict.touched, git: verdict.git };
    if (verdict.restless) reports.reportKeepsChanging(path);
    this.#comparisons.soon(path, touched !== undefined, verdict.wait);
    return undefined;
  }
}

/** One read of a file. */
interface FileRead {
  readonly hash: string;
  /** The file may not be written completely. */
  readonly doubtful: boolean;
  /** When the file was first touched; undefined if that was not observed. */
  readonly touched: number | undefined;
  readonly git: boolean;
}

type Verdict =
  /** `touched` and `git` are from the first read. */
  | { readonly steady: true; readonly touched: number | undefined; readonly git: boolean }
  /** The file must be read again after `wait` milliseconds. `restless`: it has kept changing for 5 s. */
  | { readonly steady: false; readonly wait: number; readonly restless: boolean };

interface Candidate extends FileRead {
  at: number;
  /** Time of the first read in a series of different reads. */
  readonly since: number;
  readonly changes: number;
}

export class Steadiness {
  readonly #clock: Clock;
  readonly #candidates = new Map<string, Candidate>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  judge(path: string, read: FileRead): Verdict {
    const now = this.#clock.now();
    const before = this.#candidates.get(path);
    const candidate = before?.hash === read.hash ? before : next(before, read, now);
    this.#candidates.set(path, candidate);
    // The clock may have been set back.
    candidate.at = Math.min(candidate.at, now);
    const wait = candidate.at + restOf(candidate) - now;
    if (wait > 0) {
      return { steady: false, wait, restless: candidate.changes > 0 && now - candidate.since >= RESTLESS_MILLISECONDS };
    }
    this.#candidates.delete(path);
    return { steady: true, touched: candidate.touched, git: candidate.git };
  }

  /** Time until the file can be read again; undefined if no second read is needed, or if the file keeps changing. */
  waitFor(path: string): number | undefined {
    const candidate = this.#candidates.get(path);
    if (candidate === undefined || candidate.changes > 0) return undefined;
    return Math.max(0, candidate.at + restOf(candidate) - this.#clock.now());
  }

  forget(path: string): void {
    this.#candidates.delete(path);
  }
}

function next(before: Candidate | undefined, read: FileRead, now: number): Candidate {
  if (before === undefined) return { ...read, at: now, since: now, changes: 0 };
  return {
    ...read,
    touched: before.touched ?? read.touched,
    git: before.git || read.git,
    at: now,
    since: before.since,
    changes: before.changes + 1,
  };
}

function restOf({ doubtful, changes }: Candidate): number {
  const rest = doubtful ? DOUBTFUL_MILLISECONDS : REST_MILLISECONDS;
  return backOff(changes + 1, rest, LONGEST_REST_MILLISECONDS);
}

/** Whether the bytes are empty, or only the beginning of the previous bytes. */
function isCutShort(bytes: Uint8Array, before: Uint8Array | undefined): boolean {
  if (bytes.length === 0) return true;
  if (before === undefined || before.length <= bytes.length) return false;
  return bytes.every((byte, index) => byte === before[index]);
}
