// Memory that a checkpoint holds for the files it captures.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { sift, siftInSlices } from '../../../src/storage/checkpoints/checkpointFolder.ts';
import { runs } from '../../support/runs.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const FILES = 30_000;

function* samePath(): Generator<string> {
  for (let file = 0; file < FILES; file += 1) yield 'a.txt';
}

function heapAfterGarbage(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Repeated, because other tests share this process and change its memory meanwhile. */
const ROUNDS = runs(2, 3);

test('only a few files are held in memory at a time, no matter how many there are', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-sift-'));
  const { signal } = new AbortController();
  const [held, sliced]: [number[], number[]] = [[], []];
  try {
    await writeFile(join(folder, 'a.txt'), 'tea\n');
    for (let round = 0; round < ROUNDS; round += 1) {
      const whole = heapAfterGarbage();
      const { fits } = await sift(folder, samePath(), signal);
      held.push((heapAfterGarbage() - whole) / fits.length);
      sliced.push((await mostWhileSliced(folder, signal)) / FILES);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  // For comparison, holding all of them costs several hundred bytes each.
  expect(Math.max(...held)).toBeGreaterThan(100);
  expect(Math.min(...sliced)).toBeLessThan(60);
});

async function mostWhileSliced(folder: string, signal: AbortSignal): Promise<number> {
  const before = heapAfterGarbage();
  let [seen, most] = [0, 0];
  for await (const slice of siftInSlices(folder, samePath(), signal, [])) {
    seen += slice.length;
    if (seen % 9600 === 0 || seen === FILES) most = Math.max(most, heapAfterGarbage() - before);
  }
  expect(seen).toBe(FILES);
  return most;
}
