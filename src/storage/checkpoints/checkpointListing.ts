// What git lists of a folder, read one by one: a hundred thousand names at once would stay on the heap.
import { decodeName } from '../../node/rawNames.ts';
import { type Candidate } from './checkpointFolder.ts';

/** Puts those of the candidates that are among `wanted` into `found` on their way. */
export async function* noting(
  all: AsyncIterable<readonly Candidate[]>,
  wanted: ReadonlySet<string>,
  found: Set<string>,
): AsyncGenerator<readonly Candidate[]> {
  for await (const some of all) {
    for (const { path } of some) if (wanted.has(path)) found.add(path);
    yield some;
  }
}

/** What `ls-files -z -t` says: a letter, a space, a path and a zero byte for each. One by one: see `siftInSlices`. */
export function* entriesOf(listed: Buffer): Generator<{ readonly tag: string; readonly path: string }> {
  let start = 0;
  for (let end = listed.indexOf(0); end !== -1; end = listed.indexOf(0, start)) {
    const tag = String.fromCharCode(listed[start] ?? 0);
    const path = decodeName(listed.subarray(start + 2, end));
    if (path !== '') yield { tag, path };
    start = end + 1;
  }
}
