// Shares the type checker's build info between clones, in the cache folder, so that a new clone checks only
// differences.
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../install/cache.mjs';
import { repository } from '../setup.mjs';

const own = join(repository, '.build', 'types');
const shared = join(cacheFolder(), 'types');
const suffix = '.tsbuildinfo';

/** For a clone without build info. It names files by relative paths and content hashes, which `tsc -p` compares. */
export async function restoreTypes(): Promise<void> {
  if ((await infosIn(own)).length > 0) return;
  await mkdir(own, { recursive: true });
  for (const name of await infosIn(shared)) await copyFile(join(shared, name), join(own, name));
}

/** Each file is complete on its own, so it does not matter which ones win if two clones save at once. */
export async function saveTypes(): Promise<void> {
  await mkdir(shared, { recursive: true });
  for (const name of await infosIn(own)) {
    const partial = join(shared, `${name}.${process.pid}.tmp`);
    try {
      await copyFile(join(own, name), partial);
      await rename(partial, join(shared, name));
    } finally {
      await rm(partial, { force: true });
    }
  }
}

async function infosIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(suffix));
}
