// The interface for capturing one folder, and the selection of files that are captured.
import { createHash } from 'node:crypto';
import { access, constants, lstat, type Stats } from 'node:fs';
import { join } from 'node:path';
import { type CheckpointBytes } from '../../core/ports/storage.ts';
import { diskPath } from '../../node/files/rawNames.ts';
import { platform } from '../../node/platform/platform.ts';

export interface TakenFolder {
  /** Identifies the state of all files. */
  readonly tree: string;
  /** Nested repositories, relative to the folder. */
  readonly nested: readonly string[];
  /** Files that were not captured, relative to the folder. */
  readonly leftOut: readonly string[];
}

export interface FolderDifference {
  /** Relative, with `/` as separator. */
  readonly path: string;
  readonly before?: CheckpointBytes;
  readonly after?: CheckpointBytes;
}

/** Throws if the disk or git fails, and when the signal is aborted. */
export interface CheckpointFolder {
  readonly kind: 'git' | 'walk';
  /** `also`: further files to capture, relative to the folder. */
  take(also: readonly string[], signal: AbortSignal): Promise<TakenFolder>;
  /** Keeps the state until `forget`. */
  keep(name: string, tree: string, signal: AbortSignal): Promise<void>;
  /** Undefined: there was no such folder. */
  compare(
    before: string | undefined,
    after: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly FolderDifference[]>;
  read(keys: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Removes the states whose names `needed` rejects. */
  forget(needed: (name: string) => boolean, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

/** Larger files are left out. */
export const LARGEST = 100 * 1024 * 1024;
/** Ignored files up to this size, such as `.env`, are captured if their folder is not ignored. */
const LARGEST_IGNORED = 1024 * 1024;
const MOST_IGNORED = 500;
/** Limit of new bytes in one capture. */
const MOST_BYTES = 1024 * 1024 * 1024;
const AT_ONCE = 64;

export interface Candidate {
  readonly path: string;
  readonly stat: Stats;
}

/** Selects the files that can and should be captured; deleted files are in neither list. */
export async function sift(
  folder: string,
  paths: Iterable<string>,
  signal: AbortSignal,
  largest = LARGEST,
): Promise<{ fits: readonly Candidate[]; leftOut: readonly string[] }> {
  const fits: Candidate[] = [];
  const leftOut: string[] = [];
  for await (const some of siftInSlices(folder, paths, signal, leftOut, largest)) fits.push(...some);
  return { fits, leftOut };
}

/**
 * As `sift`, for any number of files, with only a few in memory at a time: the objects of a hundred thousand files
 * would grow the heap by 100 MB, which the process never releases.
 */
export async function* siftInSlices(
  folder: string,
  paths: Iterable<string>,
  signal: AbortSignal,
  leftOut: string[],
  largest = LARGEST,
): AsyncGenerator<readonly Candidate[]> {
  let bytes = 0;
  for (const some of slices(paths, AT_ONCE)) {
    signal.throwIfAborted();
    const fits: Candidate[] = [];
    for (const { path, stat, readable } of await statFiles(folder, some)) {
      const size = stat.isFile() ? stat.size : 0;
      if (!readable || size > largest || bytes + size > MOST_BYTES) {
        leftOut.push(path);
        continue;
      }
      bytes += size;
      fits.push({ path, stat });
    }
    yield fits;
  }
}

function* slices<T>(values: Iterable<T>, size: number): Generator<readonly T[]> {
  let slice: T[] = [];
  for (const value of values) {
    slice.push(value);
    if (slice.length < size) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}

export function* joined(first: Iterable<string>, second: Iterable<string>): Generator<string> {
  yield* first;
  yield* second;
}

/** The paths of all slices and then the last ones. */
export async function* inBatches(
  slices: AsyncIterable<readonly Candidate[]>,
  last: readonly Candidate[],
  size: number,
): AsyncGenerator<readonly string[]> {
  let batch: string[] = [];
  for await (const slice of slices) {
    for (const { path } of slice) batch.push(path);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  for (const { path } of last) batch.push(path);
  if (batch.length > 0) yield batch;
}

/** Selects the ignored files that are worth capturing. */
export async function siftIgnored(
  folder: string,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  return (await sift(folder, paths.slice(0, MOST_IGNORED), signal, LARGEST_IGNORED)).fits;
}

interface FoundFile extends Candidate {
  readonly readable: boolean;
}

/** The files and links among the paths, in the same order. Uses callbacks, which create less garbage than promises. */
function statFiles(folder: string, paths: readonly string[]): Promise<readonly FoundFile[]> {
  return new Promise((resolve) => {
    const found = new Array<FoundFile | undefined>(paths.length);
    let open = paths.length;
    const end = (index: number, file?: FoundFile) => {
      found[index] = file;
      open -= 1;
      if (open === 0) resolve(found.filter((one) => one !== undefined));
    };
    for (const [index, path] of paths.entries()) {
      const absolute = diskPath(join(folder, path));
      lstat(absolute, (fault, stat) => {
        if (fault !== null) end(index);
        else if (stat.isSymbolicLink() || (stat.isFile() && isPlainlyReadable(stat))) {
          end(index, { path, stat, readable: true });
        } else if (!stat.isFile()) end(index);
        else access(absolute, constants.R_OK, (denied) => end(index, { path, stat, readable: denied === null }));
      });
    }
  });
}

const { user } = platform.disk;

/** Decided by the file mode only; if false, the caller asks the system. Files may turn out to be unreadable later. */
function isPlainlyReadable({ mode, uid }: Stats): boolean {
  return user !== undefined && (user === uid ? (mode & 0o400) !== 0 : (mode & 0o004) !== 0);
}

/** Changes with the form of the stored states. */
const FORM = 2;

/** Name of the storage folder for a workspace folder. */
export function folderName(absolute: string): string {
  return createHash('sha256').update(`${FORM} ${absolute}`).digest('hex').slice(0, 24);
}
