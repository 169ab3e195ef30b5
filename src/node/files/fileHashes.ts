// Hashes programs. A file is hashed again only if it may have changed: an interpreter of 100 MB takes a second.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';

const MOST_KEPT = 200;
/** File times are coarse: a file that was just changed may change again without getting a different time. */
const SETTLED_MILLISECONDS = 2000;
const PIECE_BYTES = 1024 * 1024;

const kept = new Map<string, { readonly state: string; readonly sha256: string }>();

/** Rejects if the path is not a file or cannot be read. `now` is in milliseconds since 1970. */
export async function hashFile(path: string, now = Date.now()): Promise<string> {
  const real = await realpath(path);
  const before = await stateOf(real);
  const known = kept.get(real);
  if (known?.state === before.text) return known.sha256;
  const hash = createHash('sha256');
  for await (const piece of createReadStream(real, { highWaterMark: PIECE_BYTES })) hash.update(piece as Buffer);
  const sha256 = hash.digest('hex');
  const isSettled = now - before.changed > SETTLED_MILLISECONDS && (await stateOf(real)).text === before.text;
  if (isSettled) keep(real, { state: before.text, sha256 });
  return sha256;
}

/** Includes the ctime, which programs cannot set, unlike the mtime. */
async function stateOf(path: string): Promise<{ readonly text: string; readonly changed: number }> {
  const entry = await stat(path, { bigint: true });
  if (!entry.isFile()) throw new Error(`${path} is not a file`);
  const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = entry;
  return { text: [dev, ino, size, mtimeNs, ctimeNs].join(' '), changed: Number(ctimeMs) };
}

function keep(path: string, hashed: { readonly state: string; readonly sha256: string }): void {
  kept.delete(path);
  kept.set(path, hashed);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
}
