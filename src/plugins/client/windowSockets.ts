// Finds the sockets of windows (WIRE D) that have a folder open, or else its nearest parent folder. A socket may be
// left over from a crashed window.
import { lstat, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hubFolder, socketHome } from '../../node/hubFolder.ts';

const NAME = /^window-\d+\.(sock|json)$/;
const MOST_FOLDERS = 64;
const MOST_ADDRESS = 10_000;

export interface FoundWindow {
  /** The address that programs connect to. */
  readonly path: string;
  readonly token?: string;
  /** The workspace folder. */
  readonly root: string;
}

/** The most recently opened window first. Empty: no window has the folder or a parent of it open. */
export async function findSockets(folder: string, home = socketHome()): Promise<readonly FoundWindow[]> {
  let root = folder;
  for (let depth = 0; depth < MOST_FOLDERS; depth += 1) {
    const found = await windowsOf(root, home);
    if (found.length > 0) return found;
    const parent = dirname(root);
    if (parent === root) break;
    root = parent;
  }
  return [];
}

/** The windows of this very folder, the most recently opened one first. */
export async function windowsOf(root: string, home = socketHome()): Promise<readonly FoundWindow[]> {
  try {
    const folder = await hubFolder(root, home);
    if (!(await isOwn(folder))) return [];
    const names = (await readdir(folder)).filter((name) => NAME.test(name));
    const found = await Promise.all(names.map((name) => addressIn(join(folder, name), root)));
    return found
      .flat()
      .sort((a, b) => b.since - a.since)
      .map(({ since: _, ...window }) => window);
  } catch {
    return [];
  }
}

async function addressIn(path: string, root: string): Promise<(FoundWindow & { readonly since: number })[]> {
  try {
    if (!(await isOwn(path))) return [];
    const { mtimeMs: since, size } = await lstat(path);
    if (path.endsWith('.sock')) return [{ path, root, since }];
    if (size > MOST_ADDRESS) return [];
    const { pipe, token } = JSON.parse(await readFile(path, 'utf8')) as { pipe?: unknown; token?: unknown };
    return typeof pipe === 'string' && typeof token === 'string' ? [{ path: pipe, token, root, since }] : [];
  } catch {
    return [];
  }
}

/** Whether this user owns the file and no other user can change it. */
async function isOwn(path: string): Promise<boolean> {
  if (process.getuid === undefined) return true;
  const { uid, mode } = await lstat(path);
  return uid === process.getuid() && (mode & 0o022) === 0;
}
