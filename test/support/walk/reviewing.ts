// Reviews the changes of a walk's conversation with the real workspace, snapshots and checkpoints.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Result } from '../../../src/base/errors.ts';
import { Captures } from '../../../src/core/checkpoints/captures.ts';
import { type RestoreDeps } from '../../../src/core/checkpoints/restore.ts';
import { Review } from '../../../src/core/checkpoints/review.ts';
import { type Ports } from '../../../src/core/ports/ports.ts';
import { createDiskEntries } from '../../../src/storage/checkpoints/diskEntries.ts';
import { type Headless } from './headless.ts';

export interface Reviewing {
  readonly review: Review;
  readonly deps: RestoreDeps;
  put(path: string, text: string): Promise<void>;
  /** The content of a file; undefined if it does not exist. */
  text(path: string): Promise<string | undefined>;
  remove(path: string): Promise<void>;
}

/** What of a walk is reviewed. */
interface Reviewable {
  readonly headless: Pick<Headless, 'earshot' | 'ports' | 'folder'>;
  readonly id: string;
}

export function reviewing({ headless, id }: Reviewable): Reviewing {
  const { earshot, ports, folder } = headless;
  const live = () => earshot.get(id);
  const captures = () => {
    const { checkpoints } = ports;
    const log = live()?.log;
    return checkpoints && log && new Captures({ ...ports, checkpoints, log });
  };
  const deps: RestoreDeps = { ...partsOf(ports), live, captures };
  return {
    review: new Review(deps),
    deps,
    put: (path, text) => writeFile(join(folder, path), text),
    text: (path) => readFile(join(folder, path), 'utf8').catch(() => undefined),
    remove: (path) => rm(join(folder, path)),
  };
}

function partsOf({ workspace, buffers, snapshots, checkpoints }: Ports) {
  const entries = createDiskEntries(() => workspace.folders);
  return { workspace, buffers, snapshots, checkpoints, entries };
}

/** Returns the value of a result, or throws an error with the failure's message. */
export async function value<T>(result: Promise<Result<T>>): Promise<T> {
  const settled = await result;
  if (!settled.ok) throw new Error(settled.failure.message);
  return settled.value;
}
