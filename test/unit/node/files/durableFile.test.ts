// A file that is appended to: a failed write is removed before the next one.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DurableFile } from '../../../../src/node/files/durableFile.ts';
import { realFileSystem } from '../../../../src/node/files/fileSystem.ts';
import { atTestEnd } from '../../../support/endings.ts';

test('a failed append leaves the known length, and the file can be appended to after it was cut back', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-group-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'lines');
  const file = new DurableFile(realFileSystem, path, 0);
  const bytes = (text: string) => new TextEncoder().encode(text);
  await file.append(bytes('one\n'));
  const refuse = () => {
    throw new Error('somebody else wrote');
  };
  await expect(file.append(bytes('two\n'), refuse)).rejects.toThrow('somebody else wrote');
  expect([file.length, file.needsRestore, await readFile(path, 'utf8')]).toEqual([4, true, 'one\ntwo\n']);
  await expect(file.restore(() => Promise.reject(new Error('the disk is full')))).rejects.toThrow('the disk is full');
  expect(file.needsRestore).toBe(true);
  await file.restore(async (handle, attempt) => {
    expect(new TextDecoder().decode(attempt)).toBe('two\n');
    await handle.truncate(4);
    return 4;
  });
  await file.close();
  await file.append(bytes('three\n'));
  await file.close();
  expect([file.length, await readFile(path, 'utf8')]).toEqual([10, 'one\nthree\n']);
});
