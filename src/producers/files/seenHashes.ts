// Reads the hashes of all seen files. Each hash is confirmed by two equal reads, so that no half-written file counts.
import { pause } from '../../base/async.ts';
import { GONE } from '../../core/files/fileState.ts';
import { type SeenFile } from '../../core/ports/ports.ts';
import { type FileProducerDeps, knownOf } from './currentFile.ts';
import { Steadiness } from './settledFiles.ts';

/** A file that differs at every read is left out. */
const MOST_READS = 3;
/** Used in place of a hash for a file with unsaved changes. */
const UNSAVED = 'unsaved';

export type Hashes = ReadonlyMap<string, string>;

export interface SeenHashes {
  readonly hashes: Hashes;
  /** Files with unsaved changes; they are not among the hashes. */
  readonly unsaved: ReadonlySet<string>;
}

export async function readSeenHashes(deps: FileProducerDeps, seen: readonly SeenFile[]): Promise<SeenHashes> {
  const steadiness = new Steadiness(deps.clock);
  const hashes = new Map<string, string>();
  const unsaved = new Set<string>();
  let files = seen;
  for (let round = 0; files.length > 0 && round < MOST_READS; round += 1) {
    let wait = 0;
    const again: SeenFile[] = [];
    for (const file of files) {
      const { path, by } = file;
      const hash = await hashOf(deps, path);
      if (hash === UNSAVED) unsaved.add(path);
      if (hash === undefined || hash === UNSAVED) continue;
      const known = by.every((view) => knownOf(view) === hash);
      const verdict = known ? undefined : steadiness.judge(path, { hash, doubtful: false, touched: 0, git: true });
      if (verdict?.steady === false) {
        again.push(file);
        wait = Math.max(wait, verdict.wait);
      } else hashes.set(path, hash);
    }
    files = again;
    if (files.length > 0) await pause(deps.clock, wait);
  }
  return { hashes, unsaved };
}

/** Stores the bytes as a snapshot, so that they can be shown. Undefined if the file cannot be read. */
async function hashOf({ workspace, snapshots }: FileProducerDeps, path: string): Promise<string | undefined> {
  const file = await workspace.resolve(path);
  const content = file.ok ? await workspace.read(file.value) : undefined;
  if (content?.ok === true) return content.value.unsaved ? UNSAVED : snapshots.put(content.value.bytes);
  return content?.failure.code === 'not_found' ? GONE : undefined;
}
