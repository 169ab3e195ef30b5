// Parses git's file listings one entry at a time, since a hundred thousand names at once would stay on the heap.
import { relative, sep } from 'node:path';
import { decodeName } from '../../node/files/rawNames.ts';
import { type EntryKind } from '../../protocol/event.ts';
import { type Candidate } from './checkpointFolder.ts';

/** Yields all candidates unchanged and calls `note` with each. */
export async function* noting(
  all: AsyncIterable<readonly Candidate[]>,
  note: (candidate: Candidate) => void,
): AsyncGenerator<readonly Candidate[]> {
  for await (const some of all) {
    for (const candidate of some) note(candidate);
    yield some;
  }
}

/** Entries of `ls-files -z -t`, each a letter, a space, a path and a zero byte. A generator; see `siftInSlices`. */
export function* entriesOf(listed: Buffer): Generator<{ readonly tag: string; readonly path: string }> {
  let start = 0;
  for (let end = listed.indexOf(0); end !== -1; end = listed.indexOf(0, start)) {
    const tag = String.fromCharCode(listed[start] ?? 0);
    const path = decodeName(listed.subarray(start + 2, end));
    if (path !== '') yield { tag, path };
    start = end + 1;
  }
}

export interface Blob {
  readonly oid: string;
  readonly kind?: EntryKind;
}

/** Undefined if it is missing or a nested repository. */
export function blobOf(mode: string, oid: string): Blob | undefined {
  if (mode === '120000') return { oid, kind: 'link' };
  if (!mode.startsWith('100')) return undefined;
  return { oid, ...(mode === '100755' && { kind: 'executable' as const }) };
}

/** The path relative to `prefix`. Git's paths are inside it; other paths take the slower way. */
export function insideOf(prefix: string, path: string): string {
  if (prefix === '') return path;
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length + 1) : relative(prefix, path).split(sep).join('/');
}
