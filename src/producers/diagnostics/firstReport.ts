// Decides how long an edit waits for language servers: two seconds at first, less once they have shown how quick they are.
import { extname } from 'node:path';

const LONGEST = 2000;
const SHORTEST = 500;
const REMEMBERED = 5;
const ENOUGH = 3;
/** Later than this it was no answer to that edit. */
const TOO_LATE = 5000;

/** Servers say nothing when nothing changed for them, so how long silence means that cannot be asked, only learnt. */
export class FirstReportWait {
  readonly #edited = new Map<string, number>();
  /** Milliseconds from an edit to the first word on it, by the file's ending; newest last. */
  readonly #answers = new Map<string, number[]>();

  edited(path: string, now: number): void {
    this.#edited.set(path, now);
  }

  reported(path: string, now: number): void {
    const answers = this.#answers.get(extname(path)) ?? [];
    const edited = this.#edited.get(path);
    this.#edited.delete(path);
    const waited = edited === undefined ? TOO_LATE : now - edited;
    // Also where it is no answer: somebody looks at files like this.
    this.#answers.set(extname(path), waited < TOO_LATE ? [...answers, waited].slice(-REMEMBERED) : answers);
  }

  /** Of files that nobody ever said a word on, none is to be expected. */
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
