// Holds reports of changed files during a git operation, which is reported as a whole.
import { foldersAbove } from '../files/folders.ts';

/** `during`: a git operation was running and has finished. */
export type Passed = 'free' | 'during';

/** Watchers report the files of an operation some time after its end. */
const ECHO_MILLISECONDS = 3000;
const LATE_MILLISECONDS = 60_000;
/** How many operations are remembered; touches of files are compared with them at the next delivery point. */
const MOST_OPERATIONS = 200;
/** How many paths are remembered, besides those of the newest operation. */
const MOST_PATHS = 100_000;

interface Operation {
  readonly from: number;
  /** Moved by events shortly after the end, up to `latest`. */
  to: number;
  readonly latest: number;
  readonly hasPaths: boolean;
  /** The files that it changed and their folders; emptied after `pathsUntil`, or if there are too many. */
  paths: ReadonlySet<string>;
  readonly pathsUntil: number;
}

/** Shared by the files producer and the git producer; open while the git producer is not running. */
export class GitGate {
  #wait: (() => Promise<Passed>) | undefined;
  /** The newest is last. Late events of one operation may come after the next one was reported. */
  readonly #operations: Operation[] = [];

  passed(): Promise<Passed> {
    return this.#wait === undefined ? Promise.resolve('free') : this.#wait();
  }

  /** Undefined if the git producer is not running, so that the gate is open. */
  setWait(wait: (() => Promise<Passed>) | undefined): void {
    this.#wait = wait;
  }

  /** Records a reported operation; `paths` are the files that it changed, if they are known. */
  addOperation(from: number, to: number, paths: ReadonlySet<string>): void {
    const hasPaths = paths.size > 0;
    this.#operations.push({
      from,
      to: to + ECHO_MILLISECONDS,
      // If its files are known, late events are recognized by their path.
      latest: to + (hasPaths ? ECHO_MILLISECONDS : LATE_MILLISECONDS),
      hasPaths,
      // For a created or deleted folder, a watcher may report only the folder.
      paths: new Set([...paths, ...foldersAbove(paths)]),
      pathsUntil: to + LATE_MILLISECONDS,
    });
    if (this.#operations.length > MOST_OPERATIONS) this.#operations.shift();
    this.#forgetPaths(to);
  }

  /** Whether this is a late event of a file that git changed: on a busy machine watchers lag far behind. */
  isLate(path: string, now: number): boolean {
    return this.#operations.some((operation) => isLateEventOf(operation, path, now));
  }

  /** Events shortly after the previous one belong to the operation: watchers report ten thousand files one by one. */
  isEcho(now: number): boolean {
    const recent = this.#operations.filter(({ to }) => now <= to);
    // Bounded, since a program may write continuously.
    for (const operation of recent) operation.to = Math.min(now + ECHO_MILLISECONDS, operation.latest);
    return recent.length > 0;
  }

  /** Whether an operation changed the file: decided by path if its files are known, otherwise by time. */
  made(path: string, touched: number | undefined, now: number): boolean {
    return this.#operations.some((operation) =>
      operation.hasPaths
        ? isLateEventOf(operation, path, now)
        : touched !== undefined && isEventDuring(operation, touched),
    );
  }

  /** Whether an event at this time belongs to a reported operation. */
  isDuringOperation(time: number): boolean {
    return this.#operations.some((operation) => isEventDuring(operation, time));
  }

  #forgetPaths(now: number): void {
    const [, ...older] = this.#operations.toReversed();
    let kept = 0;
    for (const operation of older) {
      kept += operation.paths.size;
      if (now > operation.pathsUntil || kept > MOST_PATHS) operation.paths = new Set();
    }
  }
}

function isLateEventOf({ paths, pathsUntil }: Operation, path: string, now: number): boolean {
  return now <= pathsUntil && paths.has(path);
}

function isEventDuring({ from, to }: Operation, time: number): boolean {
  return time >= from - ECHO_MILLISECONDS && time <= to;
}
