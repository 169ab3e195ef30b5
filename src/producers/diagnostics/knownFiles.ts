// Tracks the problems that a conversation knows for each file: its starting state, and whether that state is sure.
import { extname } from 'node:path';
import { defined } from '../../base/json/defined.ts';
import { compareProblems, type KnownProblems, type ProblemDelta } from '../../core/notify/wording/problems.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type Problem } from '../../core/ports/problems.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { type ChangeTime, type Observation, type ObservedProblems, WARM_UP_MILLISECONDS } from './observedProblems.ts';
import { mayConcern } from './relatedChanges.ts';

const NEVER_CHECKED: KnownProblems = { problems: [], sure: false };

/** The known problems of one conversation, by path. */
export class KnownFiles {
  readonly #clock: Clock;
  readonly #observed: ObservedProblems;
  readonly #known = new Map<string, KnownProblems>();
  /** When the conversation was first found to have read a file. */
  readonly #read = new Map<string, number>();
  /** When the first report on a file was taken as the starting state. */
  readonly #first = new Map<string, number>();

  constructor(clock: Clock, observed: ObservedProblems) {
    this.#clock = clock;
    this.#observed = observed;
  }

  /** `at`: when its edit began, for a file that the conversation has edited without having read it. */
  noteRead(path: string, at = this.#clock.now()): void {
    if (!this.#read.has(path)) this.#read.set(path, at);
  }

  has(path: string): boolean {
    return this.#known.has(path);
  }

  get(path: string): KnownProblems | undefined {
    return this.#known.get(path);
  }

  /** `sure`: the state was sure before; otherwise the servers' current state decides. */
  set(path: string, problems: readonly Problem[], sure: boolean): void {
    this.#known.set(path, { problems, sure: sure || this.#observed.isSure(path) });
  }

  /** Once for each file. Problems that a change since the read may have caused are reported, not taken as the start. */
  takeStart(file: FilePath): void {
    if (this.has(file.path)) return;
    const { problems } = this.#observed.observe(file);
    if (problems.length === 0 || this.#changedSinceRead(file.path) === undefined) this.set(file.path, problems, false);
  }

  #takeCurrent({ file, problems }: Observation): void {
    this.set(file.path, problems, false);
  }

  /** Problems reported from here on may be older than the conversation's read or edit. */
  markUnknown(path: string): void {
    this.#known.set(path, NEVER_CHECKED);
  }

  /** Called before something changes: states that are settled at this time are sure. */
  confirmSettled(): void {
    for (const [path, known] of this.#known) {
      const checked = known !== NEVER_CHECKED;
      if (checked && !known.sure && this.#observed.isSure(path)) this.#known.set(path, { ...known, sure: true });
    }
  }

  /**
   * Called after a change in this time span: a first report since then may already include problems of the change.
   * Returns the files that must be checked again.
   */
  doubtFirstReports(changed: string, { from, to }: ChangeTime): string[] {
    return [...this.#first].flatMap(([path, at]) => {
      const isConcerned = at >= from && to >= (this.#read.get(path) ?? 0);
      if (!isConcerned || !mayConcern(extname(changed), extname(path))) return [];
      this.#first.delete(path);
      if (this.#known.get(path)?.problems.length === 0) return [];
      this.markUnknown(path);
      return [path];
    });
  }

  /** If nothing has changed since the file was read, takes the problems as the starting state and returns false. */
  isNew(observation: Observation): boolean {
    const { path } = observation.file;
    const now = this.#clock.now();
    const changed = this.#changedSinceRead(path) !== undefined;
    if (!this.#known.has(path)) {
      // No server has checked it yet, so the absence of problems means nothing.
      if (!observation.checked) return false;
      if (changed) {
        this.markUnknown(path);
        return true;
      }
      this.#takeCurrent(observation);
      this.#first.set(path, now);
      return false;
    }
    const warming = observation.warming || now - (this.#first.get(path) ?? 0) < WARM_UP_MILLISECONDS;
    if (!warming || changed) return true;
    this.#takeCurrent(observation);
    return false;
  }

  /** If the known state is not sure, names the last change since the read. */
  compare(path: string, known: KnownProblems, problems: readonly Problem[]): ProblemDelta {
    const after = known.sure ? undefined : this.#changedSinceRead(path);
    return { ...compareProblems(known, problems), ...defined({ after }) };
  }

  /** The last changed file, since the conversation read this one, that this one may depend on, or the file itself. */
  #changedSinceRead(path: string): string | undefined {
    const read = this.#read.get(path);
    return read === undefined ? undefined : this.#observed.changedSince(path, read);
  }
}
