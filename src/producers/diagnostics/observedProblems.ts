// Observes the problems of files once a server is quiet. Problems that vanish with a closed document stay for a while.
import { extname } from 'node:path';
import { pause } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { compareProblems } from '../../core/notify/wording/problems.ts';
import { type Clock, type Logger } from '../../core/ports/ports.ts';
import { type Problem, type Problems, type ProblemsChange } from '../../core/ports/problems.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { RelatedChanges } from './relatedChanges.ts';

const QUIET_MILLISECONDS = 300;
/** Servers that keep reporting are waited for this often. */
const MOST_ROUNDS = 3;
/** A server needs a while for a newly opened document; problems that it reports in that time existed before. */
export const WARM_UP_MILLISECONDS = 15_000;
/** This long after a document was opened, its problems count as complete, even without a report. */
const SETTLED_MILLISECONDS = 5000;
/** A server may report on a document in several steps, and several servers may report on one document. */
const STEPS_MILLISECONDS = 2000;
/** The longest delay of the editor's watcher; a server with its own watcher may report a change earlier. */
const WATCHER_LAG_MILLISECONDS = 1000;
/** The watcher reports an edit in the editor a second time when the file is saved. */
const ECHO_MILLISECONDS = 3000;

export interface Observation {
  readonly file: FilePath;
  readonly problems: readonly Problem[];
  /** The document was opened recently, so its server may have just begun to check it. */
  readonly warming: boolean;
  /** The document is open, or a server has reported on it since it was opened. */
  readonly checked: boolean;
}

interface Due {
  readonly file: FilePath;
  at: number;
}

/** The earliest and the latest possible time of a change. */
export interface ChangeTime {
  readonly from: number;
  readonly to: number;
}

export interface ObservedListener {
  /** Called with reported files once they have been quiet for a while. */
  quiet(files: readonly FilePath[]): void;
  /** Called before a file counts as changed. */
  changing(path: string, time: ChangeTime): void;
}

export interface ObservedDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly problems: Problems;
}

export class ObservedProblems implements Disposable {
  readonly #deps: ObservedDeps;
  readonly #held = new DisposableStore();
  readonly #reportWait = new FirstReportWait();
  readonly #onDidReport: Emitter<void>;
  readonly #started: number;
  readonly #due = new Map<string, Due>();
  #timer: { readonly at: number; readonly held: Disposable } | undefined;
  readonly #observed = new Map<string, readonly Problem[]>();
  readonly #opened = new Map<string, number>();
  /** When documents with problems were closed or opened again. */
  readonly #doubted = new Map<string, number>();
  /** Time of the last report, by the file's ending. */
  readonly #lastReport = new Map<string, number>();
  readonly #reported = new Map<string, number>();
  /** Time of the first report on a document since it was opened. */
  readonly #firstReport = new Map<string, number>();
  readonly #edits = new Map<string, number>();
  readonly #changes = new RelatedChanges();
  readonly #listener: ObservedListener;

  constructor(deps: ObservedDeps, listener: ObservedListener) {
    this.#deps = deps;
    this.#listener = listener;
    this.#started = deps.clock.now();
    this.#onDidReport = this.#held.add(new Emitter((error) => deps.logger.error('a listener failed', error)));
    for (const { file, problems } of deps.problems.all()) this.#observed.set(file.path, problems);
    this.#held.add(deps.problems.onDidChange((change) => this.#take(change)));
  }

  /** The problems of every file that ever had some. */
  get all(): ReadonlyMap<string, readonly Problem[]> {
    return this.#observed;
  }

  /** Whether its problems are complete: the document was open long enough, or a server has reported on it. */
  isSettled(path: string): boolean {
    const opened = this.openedAt(path);
    return (this.#reported.get(path) ?? -1) >= opened || this.#deps.clock.now() - opened >= SETTLED_MILLISECONDS;
  }

  /** Whether every server had time to report, so that new problems after a change come from that change. */
  isSure(path: string): boolean {
    const now = this.#deps.clock.now();
    const first = this.#firstReport.get(path);
    if (now - this.openedAt(path) >= SETTLED_MILLISECONDS) return true;
    return first !== undefined && now - first >= STEPS_MILLISECONDS;
  }

  /** Whether a server has reported on it since the observation began. */
  hasReported(path: string): boolean {
    return this.#reported.has(path);
  }

  /** Its problems vanished with its document, as far as `observe` could tell. */
  isDoubtful(path: string): boolean {
    return this.#doubted.has(path);
  }

  /** How long servers may still be starting. */
  get warmingFor(): number {
    return Math.max(0, this.#started + WARM_UP_MILLISECONDS - this.#deps.clock.now());
  }

  /** The file whose change, the newest since this time, may have caused problems in this file. */
  changedSince(path: string, time: number): string | undefined {
    return this.#changes.since(path, time)?.path;
  }

  /** Calls `quiet` with the file again soon. */
  recheckSoon(file: FilePath): void {
    this.#schedule(file, this.#deps.clock.now() + QUIET_MILLISECONDS);
  }

  /** Resolves once servers are quiet that have just reported on files that are wanted, or after a few reports. */
  async quiet(isWanted: (path: string) => boolean): Promise<void> {
    const { clock } = this.#deps;
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const now = clock.now();
      const due = [...this.#due.values()].filter(
        ({ file, at }) => at - now <= QUIET_MILLISECONDS && isWanted(file.path),
      );
      if (due.length === 0) return;
      const last = Math.max(...due.map(({ at }) => at));
      // One millisecond more, so that `quiet` was called before.
      await pause(clock, Math.max(1, last - now) + 1);
    }
  }

  observe(file: FilePath): Observation {
    const { problems, open } = this.#deps.problems.of(file);
    const before = this.#observed.get(file.path) ?? [];
    const opened = this.openedAt(file.path);
    const warming = this.#deps.clock.now() - opened < WARM_UP_MILLISECONDS;
    const checked = open || (this.#reported.get(file.path) ?? -1) >= opened;
    if (this.#isDoubtful(file.path, open, before, problems)) return { file, problems: before, warming, checked };
    this.#observed.set(file.path, problems);
    return { file, problems, warming, checked };
  }

  /** Resolves once servers have reported on the last edit of these files and are quiet, or after the longest wait. */
  settled(paths: readonly string[], since: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const limit = clock.now() + this.#reportWait.for(paths);
    return new Promise((resolve) => {
      const held = new DisposableStore();
      let timer: Disposable | undefined;
      const check = () => {
        timer?.dispose();
        const now = clock.now();
        const edited = Math.max(since, ...paths.map((path) => this.#edits.get(path) ?? 0));
        const reported = Math.max(0, ...paths.map((path) => this.#lastReport.get(extname(path)) ?? 0));
        const due = reported > edited ? Math.min(limit, reported + QUIET_MILLISECONDS) : limit;
        if (!signal.aborted && now < due) {
          timer = clock.after(due - now, check);
          return;
        }
        signal.removeEventListener('abort', check);
        held.dispose();
        resolve();
      };
      held.add(this.#onDidReport.event(check));
      signal.addEventListener('abort', check, { once: true });
      check();
    });
  }

  dispose(): void {
    this.#timer?.held.dispose();
    this.#held.dispose();
  }

  #take({ type, files, agoMilliseconds }: ProblemsChange): void {
    const now = this.#deps.clock.now();
    if (type === 'changed') this.#takeChanged(files, now, agoMilliseconds);
    for (const file of files) {
      const { path } = file;
      switch (type) {
        case 'reported':
          this.#reportWait.reported(path, now);
          this.#lastReport.set(extname(path), now);
          this.#reported.set(path, now);
          if (!this.#firstReport.has(path)) this.#firstReport.set(path, now);
          this.#schedule(file, now + QUIET_MILLISECONDS);
          break;
        case 'edited':
          this.#listener.changing(path, { from: now, to: now });
          this.#changes.add(path, now);
          this.#reportWait.edited(path, now);
          this.#edits.set(path, now);
          // While the text changes, a report is about an older text.
          if (this.#due.has(path)) this.#schedule(file, now + QUIET_MILLISECONDS);
          break;
        case 'opened':
          this.#opened.set(path, now);
          this.#firstReport.delete(path);
          this.#doubt(file, now);
          break;
        case 'closed':
          this.#doubt(file, now);
          break;
        case 'changed':
          break;
      }
    }
    if (type === 'reported') this.#onDidReport.fire();
  }

  /** Only one file of each extension is recorded, since there may be thousands. */
  #takeChanged(files: readonly FilePath[], now: number, ago: number | undefined): void {
    const newest = new Map<string, string>();
    for (const { path } of files) {
      if (now - (this.#edits.get(path) ?? 0) >= ECHO_MILLISECONDS) newest.set(extname(path), path);
    }
    for (const path of newest.values()) {
      const time = { from: now - (ago ?? WATCHER_LAG_MILLISECONDS), to: now - (ago ?? 0) };
      this.#listener.changing(path, time);
      this.#changes.add(path, time.to);
    }
  }

  /** Schedules another check for the time when its server must have checked the file. */
  #doubt(file: FilePath, now: number): void {
    if ((this.#observed.get(file.path)?.length ?? 0) > 0) this.#doubted.set(file.path, now);
    this.#schedule(file, now + SETTLED_MILLISECONDS);
  }

  /** Closing a document resolves nothing: many servers drop its problems and report them again later. */
  #isDoubtful(path: string, open: boolean, before: readonly Problem[], now: readonly Problem[]): boolean {
    const since = this.#doubted.get(path);
    if (since === undefined) return false;
    const lacks = compareProblems({ problems: before, sure: true }, now).resolved.length > 0;
    if (lacks && (!open || this.#deps.clock.now() - since < SETTLED_MILLISECONDS)) return true;
    this.#doubted.delete(path);
    return false;
  }

  /** When its document was opened; the start of the observation if that was not observed. */
  openedAt(path: string): number {
    return Math.max(this.#opened.get(path) ?? 0, this.#started);
  }

  /** One timer for all files: a server may report thousands at once. */
  #schedule(file: FilePath, at: number): void {
    this.#due.set(file.path, { file, at });
    this.#startTimer(at);
  }

  #startTimer(at: number): void {
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.held.dispose();
    const { clock } = this.#deps;
    this.#timer = { at, held: clock.after(Math.max(1, at - clock.now()), () => this.#reportDue()) };
  }

  #reportDue(): void {
    this.#timer = undefined;
    const now = this.#deps.clock.now();
    const due = [...this.#due.values()].filter(({ at }) => at <= now);
    for (const { file } of due) this.#due.delete(file.path);
    const next = [...this.#due.values()].reduce((first, { at }) => Math.min(first, at), Number.POSITIVE_INFINITY);
    if (this.#due.size > 0) this.#startTimer(next);
    if (due.length > 0) this.#listener.quiet(due.map(({ file }) => file));
  }
}

const LONGEST = 2000;
const SHORTEST = 500;
const REMEMBERED = 5;
const ENOUGH = 3;
/** A report after this time was not caused by the edit. */
const TOO_LATE = 5000;

/** Servers send nothing if the problems did not change, so the time to wait is learnt from earlier reports. */
class FirstReportWait {
  readonly #edited = new Map<string, number>();
  /** Milliseconds from an edit to the first report, by the file's ending; newest last. */
  readonly #answers = new Map<string, number[]>();

  edited(path: string, now: number): void {
    this.#edited.set(path, now);
  }

  reported(path: string, now: number): void {
    const answers = this.#answers.get(extname(path)) ?? [];
    const edited = this.#edited.get(path);
    this.#edited.delete(path);
    const waited = edited === undefined ? TOO_LATE : now - edited;
    // A late report also creates the entry, since it shows that a server checks files with this extension.
    this.#answers.set(extname(path), waited < TOO_LATE ? [...answers, waited].slice(-REMEMBERED) : answers);
  }

  /** The shortest wait applies to files with extensions that no server has ever reported on. */
  for(paths: readonly string[]): number {
    return Math.max(...paths.map((path) => this.#for(extname(path))));
  }

  #for(ending: string): number {
    const answers = this.#answers.get(ending);
    if (answers === undefined) return SHORTEST;
    if (answers.length < ENOUGH) return LONGEST;
    return Math.min(LONGEST, Math.max(SHORTEST, 3 * Math.max(...answers)));
  }
}
