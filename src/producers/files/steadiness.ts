// Accepts the content of a file once two reads were equal, so that a half-written file is not reported.
import { type Clock } from '../../core/ports/ports.ts';

/** How long a file must stay unchanged. */
const REST_MILLISECONDS = 200;
/** An empty, truncated or missing file is often about to be written, and a moved file may be found in this time. */
const DOUBTFUL_MILLISECONDS = 600;
/** A program that writes in steps may pause between them. */
const LONGEST_REST_MILLISECONDS = 1600;
/** After this long without two equal reads, the file is reported as changing. */
const RESTLESS_MILLISECONDS = 5000;

/** One read of a file. */
export interface FileRead {
  readonly hash: string;
  /** The file may not be written completely. */
  readonly doubtful: boolean;
  /** When the file was first touched; undefined if that was not observed. */
  readonly touched: number | undefined;
  readonly git: boolean;
}

export type Verdict =
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
  return Math.min(LONGEST_REST_MILLISECONDS, rest * 2 ** changes);
}

/** Whether the bytes are empty, or only the beginning of the previous bytes. */
export function isCutShort(bytes: Uint8Array, before: Uint8Array | undefined): boolean {
  if (bytes.length === 0) return true;
  if (before === undefined || before.length <= bytes.length) return false;
  return bytes.every((byte, index) => byte === before[index]);
}
