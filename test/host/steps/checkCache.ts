// Remembers in the cache folder which trees passed a check. The key is the whole tree, since a check may read any file.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../install/cache.mjs';
import { repository } from '../setup.mjs';

const run = promisify(execFile);

/** The file that exists if this tree passed the check; undefined if git cannot list the tree. */
export async function markerOf(check: string): Promise<string | undefined> {
  const args = ['ls-files', '-co', '--exclude-standard', '-z'];
  const listed = await run('git', args, { cwd: repository, maxBuffer: 64 * 1024 * 1024 }).catch(() => undefined);
  const names = (listed?.stdout ?? '').split('\0').filter((name) => /\.(tsx?|mjs|json)$/.test(name));
  if (names.length === 0) return undefined;
  const hash = createHash('sha256').update(`${process.version}\0`);
  for (const name of names.sort()) {
    hash.update(`${name}\0`);
    // A deleted file is listed until the deletion is staged.
    hash.update(await readFile(join(repository, name)).catch(() => 'deleted'));
    hash.update('\0');
  }
  return join(cacheFolder(), check, hash.digest('hex'));
}

export async function isMarked(marker: string): Promise<boolean> {
  return stat(marker).then(
    () => true,
    () => false,
  );
}

export async function mark(marker: string): Promise<void> {
  await mkdir(dirname(marker), { recursive: true });
  await writeFile(marker, '');
}
