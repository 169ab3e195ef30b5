// Decides when a change of a file may be told by itself: not while git is at work, which tells of all its files at once.
import { foldersAbove } from '../files/folders.ts';

/** `during`: something of git was at work when it was asked, and is over now. */
export type Passed = 'free' | 'during';

/** What git touches is noticed a while after it has finished. */
const ECHO_MILLISECONDS = 3000;
const LATE_MILLISECONDS = 60_000;
const KEPT = 20;

/** Shared by the producers of files and of git; open while the latter does not run. */
export class GitGate {
  #wait: (() => Promise<Passed>) | undefined;
  #last: { readonly paths: ReadonlySet<string>; readonly until: number } = { paths: new Set(), until: 0 };
  readonly #worked: { readonly from: number; to: number; readonly latest: number }[] = [];

  passed(): Promise<Passed> {
    return this.#wait === undefined ? Promise.resolve('free') : this.#wait();
  }

  /** Undefined: nobody knows, so it is open. */
  keep(wait: (() => Promise<Passed>) | undefined): void {
    this.#wait = wait;
  }

  /** An operation that was told of as a whole; `paths` are files that it changed, as far as they are known. */
  worked(from: number, to: number, paths: ReadonlySet<string>): void {
    // Of a folder that came or went with all that it holds, only the folder may be told.
    this.#last = { paths: new Set([...paths, ...foldersAbove(paths)]), until: to + LATE_MILLISECONDS };
    // Where its files are known, those that come late are known too.
    const latest = to + (paths.size > 0 ? ECHO_MILLISECONDS : LATE_MILLISECONDS);
    this.#worked.push({ from, to: to + ECHO_MILLISECONDS, latest });
    if (this.#worked.length > KEPT) this.#worked.shift();
  }

  /** Told late, but of a file that git changed: a busy machine's watcher is far behind. */
  isLate(path: string, now: number): boolean {
    return now <= this.#last.until && this.#last.paths.has(path);
  }

  /** What comes now, close after the last of it, still belongs to it: watchers tell of ten thousand files one after another. */
  echoes(now: number): boolean {
    const last = this.#worked.at(-1);
    if (last === undefined || now > last.to) return false;
    // Not for ever: something may write all the time.
    last.to = Math.min(now + ECHO_MILLISECONDS, last.latest);
    return true;
  }

  /** Whether the last operation made it so, as far as its files are known; otherwise by the time alone. */
  made(path: string, touched: number | undefined, now: number): boolean {
    if (this.#last.paths.size > 0) return this.isLate(path, now);
    return touched !== undefined && this.covers(touched);
  }

  /** Whether what was noticed at this moment belongs to such an operation. */
  covers(time: number): boolean {
    return this.#worked.some(({ from, to }) => time >= from - ECHO_MILLISECONDS && time <= to);
  }
}
