// What a checkpoint holds in memory of each file that it captures.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type Candidate, sift } from '../../../src/storage/checkpointFolder.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const FILES = 30_000;

/** Bytes that stay for each file as long as the result is there. */
async function heldFor(folder: string, pick: (candidate: Candidate) => unknown): Promise<number> {
  const paths = Array.from({ length: FILES }, () => 'a.txt');
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const { fits } = await sift(folder, paths, new AbortController().signal, pick);
  collectGarbage();
  const held = process.memoryUsage().heapUsed - before;
  expect(fits).toHaveLength(FILES);
  return held / FILES;
}

test('of a file that is to be captured only its path is held', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-sift-'));
  try {
    await writeFile(join(folder, 'a.txt'), 'tea\n');
    // With the results of lstat it would be several hundred bytes.
    expect(await heldFor(folder, (candidate) => candidate)).toBeGreaterThan(200);
    expect(await heldFor(folder, ({ path }) => path)).toBeLessThan(60);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
