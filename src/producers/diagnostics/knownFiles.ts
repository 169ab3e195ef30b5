// Decides which problems of a file were there all along for a conversation that has read it, and how sure that is.
import { extname } from 'node:path';
import { compareProblems, type KnownProblems, type ProblemDelta } from '../../core/notify/wording/problems.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type Problem } from '../../core/ports/problems.ts';
import { type FilePath } from '../../core/ports/workspace.ts';
import { type ChangeTime, type Observation, type ObservedProblems, WARM_UP_MILLISECONDS } from './observedProblems.ts';
import { mayConcern } from './relatedChanges.ts';

const NOT_LOOKED_AT: KnownProblems = { problems: [], sure: false };

/** Of one conversation, by path. */
export class KnownFiles {
  readonly #clock: Clock;
  readonly #observed: ObservedProblems;
  readonly #known = new Map<string, KnownProblems>();
  /** When the conversation was first found to have read a file. */
  readonly #read = new Map<string, number>();
  /** When the first word on a file was taken for how it was. */
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

  /** `sure`: it was so before; otherwise as sure as it is now. */
  set(path: string, problems: readonly Problem[], sure: boolean): void {
    this.#known.set(path, { problems, sure: sure || this.#observed.isSure(path) });
  }

  takeAsItIs(file: FilePath): void {
    this.set(file.path, this.#observed.look(file).problems, false);
  }

  /** Whatever is said of it from here on may be older. */
  takeAsUnknown(path: string): void {
    this.#known.set(path, NOT_LOOKED_AT);
  }

  /** Before something changes: what was settled by then is known for sure. */
  makeSure(): void {
    for (const [path, known] of this.#known) {
      const looked = known !== NOT_LOOKED_AT;
      if (looked && !known.sure && this.#observed.isSure(path)) this.#known.set(path, { ...known, sure: true });
    }
  }

  /**
   * After a change was reported that happened in this span: a first word that came since may already speak of it. Returns
   * the files that are to be looked at again.
   */
  doubtFirstWords(changed: string, { from, to }: ChangeTime): string[] {
    return [...this.#first].flatMap(([path, at]) => {
      const isConcerned = at >= from && to >= (this.#read.get(path) ?? 0);
      if (!isConcerned || !mayConcern(extname(changed), extname(path))) return [];
      this.#first.delete(path);
      if (this.#known.get(path)?.problems.length === 0) return [];
      this.takeAsUnknown(path);
      return [path];
    });
  }

  /** False: what is said of the file was there all along, since nothing has changed since it was read; it is known then. */
  isNews(look: Observation): boolean {
    const { path } = look.file;
    const now = this.#clock.now();
    const changed = this.#changedSinceRead(path) !== undefined;
    if (!this.#known.has(path)) {
      // Nobody has looked at it yet, so that nothing is said of it means nothing.
      if (!look.looked) return false;
      if (changed) {
        this.takeAsUnknown(path);
        return true;
      }
      this.takeAsItIs(look.file);
      this.#first.set(path, now);
      return false;
    }
    const warming = look.warming || now - (this.#first.get(path) ?? 0) < WARM_UP_MILLISECONDS;
    if (!warming || changed) return true;
    this.takeAsItIs(look.file);
    return false;
  }

  /** What is not known for sure is said to come after the last change. */
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
