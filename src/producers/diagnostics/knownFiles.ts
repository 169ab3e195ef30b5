// The problems of files that a conversation knows: the starting state of each file, and how sure it is.
import { extname } from 'node:path';
import { compareProblems, type KnownProblems, type ProblemDelta } from '../../core/notify/wording/problems.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type Problem } from '../../core/ports/problems.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { type ChangeTime, type Observation, type ObservedProblems, WARM_UP_MILLISECONDS } from './observedProblems.ts';
import { mayConcern } from './relatedChanges.ts';

const NEVER_CHECKED: KnownProblems = { problems: [], sure: false };

/** Of one conversation, by path. */
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

  noteRead(path: string): void {
    if (!this.#read.has(path)) this.#read.set(path, this.#clock.now());
  }

  has(path: string): boolean {
    return this.#known.has(path);
  }

  get(path: string): KnownProblems | undefined {
    return this.#known.get(path);
  }

  /** `sure`: it was sure before; otherwise it depends on the servers now. */
  set(path: string, problems: readonly Problem[], sure: boolean): void {
    this.#known.set(path, { problems, sure: sure || this.#observed.isSure(path) });
  }

  /** Once for each file. Problems that may come from a change since the read are no starting state: they are reported. */
  takeStart(file: FilePath): void {
    if (this.has(file.path)) return;
    const { problems } = this.#observed.observe(file);
    if (problems.length === 0 || this.#changedSinceRead(file.path) === undefined) this.set(file.path, problems, false);
  }

  #takeCurrent({ file, problems }: Observation): void {
    this.set(file.path, problems, false);
  }

  /** Problems reported from here on may be older. */
  markUnknown(path: string): void {
    this.#known.set(path, NEVER_CHECKED);
  }

  /** Before something changes: what is settled by now is sure. */
  confirmSettled(): void {
    for (const [path, known] of this.#known) {
      const checked = known !== NEVER_CHECKED;
      if (checked && !known.sure && this.#observed.isSure(path)) this.#known.set(path, { ...known, sure: true });
    }
  }

  /**
   * After a change that happened in this span: a first report since may already include its problems. Returns the files
   * that are to be checked again.
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

  /** False: the problems are the starting state, since nothing has changed since the file was read. Takes them as known. */
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

  /** If it is not sure, names the last change before. */
  compare(path: string, known: KnownProblems, problems: readonly Problem[]): ProblemDelta {
    const after = known.sure ? undefined : this.#changedSinceRead(path);
    return { ...compareProblems(known, problems), ...(after !== undefined && { after }) };
  }

  /** The file, or one that it may depend on, that somebody changed last since the conversation read this one. */
  #changedSinceRead(path: string): string | undefined {
    const read = this.#read.get(path);
    return read === undefined ? undefined : this.#observed.changedSince(path, read);
  }
}
