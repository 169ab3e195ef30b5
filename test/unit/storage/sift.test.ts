// Memory that a checkpoint holds for the files it captures.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { atTestEnd } from '../../support/endings.ts';

const program = resolve(import.meta.dirname, '../../support/workspace/siftMemory.ts');

test('only a few files are held in memory at a time, no matter how many there are', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-sift-'));
  atTestEnd(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'a.txt'), 'tea\n');
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '--no-warnings', program, folder]);
  const { whole, sliced } = JSON.parse(stdout) as { whole: number; sliced: number };
  // For comparison, holding all of them costs several hundred bytes each.
  expect(whole).toBeGreaterThan(100);
  expect(sliced).toBeLessThan(60);
});
