// Holds reports of changed files during a git operation, which is reported as a whole.
import { foldersAbove } from '../files/folders.ts';

/** `during`: a git operation was running and has finished. */
export type Passed = 'free' | 'during';

/** Watchers report the files of an operation some time after its end. */
const ECHO_MILLISECONDS = 3000;
const LATE_MILLISECONDS = 60_000;
const KEPT = 20;

/** Shared by the files producer and the git producer; open while the git producer is not running. */
export class GitGate {
  #wait: (() => Promise<Passed>) | undefined;
  #last: { readonly paths: ReadonlySet<string>; readonly until: number } = { paths: new Set(), until: 0 };
  readonly #worked: { readonly from: number; to: number; readonly latest: number }[] = [];

  passed(): Promise<Passed> {
    return this.#wait === undefined ? Promise.resolve('free') : this.#wait();
  }

  /** Undefined if the git producer is not running, so that the gate is open. */
  setWait(wait: (() => Promise<Passed>) | undefined): void {
    this.#wait = wait;
  }

  /** Records a reported operation; `paths` are the files that it changed, if they are known. */
  addOperation(from: number, to: number, paths: ReadonlySet<string>): void {
    // For a created or deleted folder, a watcher may report only the folder.
    this.#last = { paths: new Set([...paths, ...foldersAbove(paths)]), until: to + LATE_MILLISECONDS };
    // If its files are known, late events are recognized by their path.
    const latest = to + (paths.size > 0 ? ECHO_MILLISECONDS : LATE_MILLISECONDS);
    this.#worked.push({ from, to: to + ECHO_MILLISECONDS, latest });
    if (this.#worked.length > KEPT) this.#worked.shift();
  }

  /** Whether this is a late event of a file that git changed: on a busy machine watchers lag far behind. */
  isLate(path: string, now: number): boolean {
    return now <= this.#last.until && this.#last.paths.has(path);
  }

  /** Events shortly after the previous one belong to the operation: watchers report ten thousand files one by one. */
  isEcho(now: number): boolean {
    const last = this.#worked.at(-1);
    if (last === undefined || now > last.to) return false;
    // Bounded, since a program may write continuously.
    last.to = Math.min(now + ECHO_MILLISECONDS, last.latest);
    return true;
  }

  /** Whether the last operation changed the file: decided by path if its files are known, otherwise by time. */
  made(path: string, touched: number | undefined, now: number): boolean {
    if (this.#last.paths.size > 0) return this.isLate(path, now);
    return touched !== undefined && this.isDuringOperation(touched);
  }

  /** Whether an event at this time belongs to a reported operation. */
  isDuringOperation(time: number): boolean {
    return this.#worked.some(({ from, to }) => time >= from - ECHO_MILLISECONDS && time <= to);
  }
}
