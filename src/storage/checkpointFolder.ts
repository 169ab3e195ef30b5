// What a checkpoint needs of one folder, however its files are kept; and what is too much to be kept.
import { createHash } from 'node:crypto';
import { access, constants, lstat, type Stats } from 'node:fs';
import { join } from 'node:path';
import { type CheckpointBytes } from '../core/storagePorts.ts';
import { diskPath } from '../node/rawNames.ts';

export interface TakenFolder {
  /** Names the state of all its files. */
  readonly tree: string;
  /** Folders in it that are repositories of their own, relative. */
  readonly nested: readonly string[];
  /** Relative. */
  readonly leftOut: readonly string[];
}

export interface FolderDifference {
  /** Relative, `/` between the parts. */
  readonly path: string;
  readonly before?: CheckpointBytes;
  readonly after?: CheckpointBytes;
}

/** Throws on faults of the disk or of git, and when the signal is aborted. */
export interface CheckpointFolder {
  readonly kind: 'git' | 'walk';
  /** `also` are relative. */
  take(also: readonly string[], signal: AbortSignal): Promise<TakenFolder>;
  /** From now on the state is not removed before `forget`. */
  keep(name: string, tree: string, signal: AbortSignal): Promise<void>;
  /** Without `after`: nothing is left of the folder. */
  compare(before: string, after: string | undefined, signal: AbortSignal): Promise<readonly FolderDifference[]>;
  read(keys: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Removes the states that are kept under names that `needed` does not want. */
  forget(needed: (name: string) => boolean, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

/** A larger file is left out. */
const LARGEST = 100 * 1024 * 1024;
/** Of what is ignored, files as small as this are taken all the same if their folder is not ignored: `.env` and the like. */
const LARGEST_IGNORED = 1024 * 1024;
const MOST_IGNORED = 500;
/** More new bytes than these are not taken at once. */
const MOST_BYTES = 1024 * 1024 * 1024;
const AT_ONCE = 64;

export interface Candidate {
  readonly path: string;
  readonly stat: Stats;
}

/**
 * Those of the files that can and should be captured; what is gone by now is in neither list. Of each of them only what
 * `pick` returns is held: of a hundred thousand files the results of `lstat` alone are 100 MB.
 */
export async function sift<T>(
  folder: string,
  paths: readonly string[],
  signal: AbortSignal,
  pick: (candidate: Candidate) => T,
  largest = LARGEST,
): Promise<{ fits: readonly T[]; leftOut: readonly string[] }> {
  const fits: T[] = [];
  const leftOut: string[] = [];
  let bytes = 0;
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    signal.throwIfAborted();
    for (const { path, stat, readable } of await lookAt(folder, paths.slice(at, at + AT_ONCE))) {
      const size = stat.isFile() ? stat.size : 0;
      if (!readable || size > largest || bytes + size > MOST_BYTES) {
        leftOut.push(path);
        continue;
      }
      bytes += size;
      fits.push(pick({ path, stat }));
    }
  }
  return { fits, leftOut };
}

/** Those of the ignored files that are worth keeping. */
export async function siftIgnored<T>(
  folder: string,
  paths: readonly string[],
  signal: AbortSignal,
  pick: (candidate: Candidate) => T,
): Promise<readonly T[]> {
  return (await sift(folder, paths.slice(0, MOST_IGNORED), signal, pick, LARGEST_IGNORED)).fits;
}

interface Looked extends Candidate {
  readonly readable: boolean;
}

/**
 * The files and links among them, in the same order. By callbacks: promises for each of a hundred thousand files make the
 * heap grow by 50 MB of garbage, which the process never gives back.
 */
function lookAt(folder: string, paths: readonly string[]): Promise<readonly Looked[]> {
  return new Promise((resolve) => {
    const found = new Array<Looked | undefined>(paths.length);
    let open = paths.length;
    const end = (index: number, looked?: Looked) => {
      found[index] = looked;
      open -= 1;
      if (open === 0) resolve(found.filter((one) => one !== undefined));
    };
    for (const [index, path] of paths.entries()) {
      const absolute = diskPath(join(folder, path));
      lstat(absolute, (fault, stat) => {
        if (fault !== null) end(index);
        else if (stat.isSymbolicLink()) end(index, { path, stat, readable: true });
        else if (!stat.isFile()) end(index);
        else access(absolute, constants.R_OK, (denied) => end(index, { path, stat, readable: denied === null }));
      });
    }
  });
}

/** What the place for a folder's files is called. */
export function folderName(absolute: string): string {
  return createHash('sha256').update(absolute).digest('hex').slice(0, 24);
}
