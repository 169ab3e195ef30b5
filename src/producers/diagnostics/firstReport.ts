// Decides how long an edit waits for language servers: two seconds at first, less once response times are known.
import { extname } from 'node:path';

const LONGEST = 2000;
const SHORTEST = 500;
const REMEMBERED = 5;
const ENOUGH = 3;
/** A report after this time was not caused by the edit. */
const TOO_LATE = 5000;

/** Servers send nothing if the problems did not change, so the time to wait is learnt from earlier reports. */
export class FirstReportWait {
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
