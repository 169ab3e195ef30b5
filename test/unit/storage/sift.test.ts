// What a checkpoint holds in memory of each file that it captures.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { sift, siftInSlices } from '../../../src/storage/checkpointFolder.ts';

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

test('however many files there are, only a few are held at a time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-sift-'));
  const { signal } = new AbortController();
  try {
    await writeFile(join(folder, 'a.txt'), 'tea\n');
    const whole = heapAfterGarbage();
    const { fits } = await sift(folder, samePath(), signal);
    // What it costs to hold them all: several hundred bytes each.
    expect((heapAfterGarbage() - whole) / fits.length).toBeGreaterThan(200);
    let seen = 0;
    let most = 0;
    const before = heapAfterGarbage();
    for await (const slice of siftInSlices(folder, samePath(), signal, [])) {
      seen += slice.length;
      if (seen % 9600 === 0 || seen === FILES) most = Math.max(most, heapAfterGarbage() - before);
    }
    expect(seen).toBe(FILES);
    expect(most / FILES).toBeLessThan(60);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
