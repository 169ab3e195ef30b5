// Hashes of programs: cached while the file is certainly the same, computed again when it may have changed.
import { createHash } from 'node:crypto';
import { mkdtemp, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashFile } from '../../../../src/node/files/fileHashes.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const later = () => Date.now() + 60_000;

test('a file that was changed in place, replaced, or given its old times again is hashed again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-hash-'));
  const path = join(folder, 'server');
  await writeFile(path, 'one');
  expect(await hashFile(path, later())).toBe(sha256('one'));
  expect(await hashFile(path, later())).toBe(sha256('one'));
  const old = new Date(2020, 1, 1);
  await utimes(path, old, old);
  expect(await hashFile(path, later())).toBe(sha256('one'));
  await writeFile(path, 'two');
  await utimes(path, old, old);
  expect(await hashFile(path, later())).toBe(sha256('two'));
  await writeFile(join(folder, 'other'), 'six');
  await rename(join(folder, 'other'), path);
  expect(await hashFile(path, later())).toBe(sha256('six'));
  await symlink(path, join(folder, 'link'));
  expect(await hashFile(join(folder, 'link'), later())).toBe(sha256('six'));
  await expect(hashFile(folder)).rejects.toThrow('is not a file');
  await expect(hashFile(join(folder, 'none'))).rejects.toThrow('ENOENT');
});

test('the hash of a file that changed just now is not cached, since its times may not show the next change', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'earshot-hash-')), 'server');
  for (let round = 0; round < 50; round++) {
    await writeFile(path, `round ${round % 10}`);
    expect(await hashFile(path)).toBe(sha256(`round ${round % 10}`));
  }
});
