// Accepts the content of a file once two reads found the same, so that a half-written file is not reported.
import { type Clock } from '../../core/ports/ports.ts';

/** How long a file must have stayed the same. */
const REST_MILLISECONDS = 200;
/** A file that is empty, cut short or gone is often about to be written; the editor's watcher also reports later where it went. */
const DOUBTFUL_MILLISECONDS = 600;
/** A program that writes in steps may pause between them. */
const LONGEST_REST_MILLISECONDS = 1600;
/** After this long without two equal reads, the file is reported as changing. */
const RESTLESS_MILLISECONDS = 5000;

/** One read of a file. */
export interface FileRead {
  readonly hash: string;
  /** It may not be written completely. */
  readonly doubtful: boolean;
  /** When it was first touched; undefined if that was not observed. */
  readonly touched: number | undefined;
  readonly git: boolean;
}

export type Verdict =
  /** With what was observed at the first read. */
  | { readonly steady: true; readonly touched: number | undefined; readonly git: boolean }
  /** Read again after `wait` milliseconds. `restless`: it has kept changing for 5 s. */
  | { readonly steady: false; readonly wait: number; readonly restless: boolean };

interface Candidate extends FileRead {
  at: number;
  /** When the first of a row of different reads was made. */
  readonly since: number;
  readonly changes: number;
}

export class Steadiness {
  readonly #clock: Clock;
  readonly #candidates = new Map<string, Candidate>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  judge(path: string, sighting: FileRead): Verdict {
    const now = this.#clock.now();
    const before = this.#candidates.get(path);
    const candidate = before?.hash === sighting.hash ? before : next(before, sighting, now);
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

  /** How long until it can be read again; undefined if no read is pending, or if it was found changing. */
  waitFor(path: string): number | undefined {
    const candidate = this.#candidates.get(path);
    if (candidate === undefined || candidate.changes > 0) return undefined;
    return Math.max(0, candidate.at + restOf(candidate) - this.#clock.now());
  }

  forget(path: string): void {
    this.#candidates.delete(path);
  }
}

function next(before: Candidate | undefined, sighting: FileRead, now: number): Candidate {
  if (before === undefined) return { ...sighting, at: now, since: now, changes: 0 };
  return {
    ...sighting,
    touched: before.touched ?? sighting.touched,
    git: before.git || sighting.git,
    at: now,
    since: before.since,
    changes: before.changes + 1,
  };
}

function restOf({ doubtful, changes }: Candidate): number {
  const rest = doubtful ? DOUBTFUL_MILLISECONDS : REST_MILLISECONDS;
  return Math.min(LONGEST_REST_MILLISECONDS, rest * 2 ** changes);
}

/** Empty, or the beginning of what was there before. */
export function isCutShort(bytes: Uint8Array, before: Uint8Array | undefined): boolean {
  if (bytes.length === 0) return true;
  if (before === undefined || before.length <= bytes.length) return false;
  return bytes.every((byte, index) => byte === before[index]);
}
