// A process of its own, so that nothing else changes its memory: prints how many bytes of heap each file costs while a
// checkpoint sifts many, whole and in slices. Started with --expose-gc and a folder that contains a.txt.
import { sift, siftInSlices } from '../../../src/storage/checkpoints/checkpointFolder.ts';

const FILES = 30_000;
const [folder = ''] = process.argv.slice(2);
const { signal } = new AbortController();

function* samePath(files: number): Generator<string> {
  for (let file = 0; file < files; file += 1) yield 'a.txt';
}

function heapAfterGarbage(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function whole(files: number): Promise<number> {
  const before = heapAfterGarbage();
  const { fits } = await sift(folder, samePath(files), signal);
  return (heapAfterGarbage() - before) / fits.length;
}

/** The most at any time. */
async function sliced(files: number): Promise<number> {
  const before = heapAfterGarbage();
  let [seen, most] = [0, 0];
  for await (const slice of siftInSlices(folder, samePath(files), signal, [])) {
    seen += slice.length;
    if (seen % 9600 === 0 || seen === files) most = Math.max(most, heapAfterGarbage() - before);
  }
  return most / seen;
}

// The first files load and compile code.
await whole(1000);
await sliced(1000);
process.stdout.write(JSON.stringify({ whole: await whole(FILES), sliced: await sliced(FILES) }));
