// Finds the sockets of windows (WIRE D) that have a folder open, or else its nearest parent folder; where no window has,
// that of `earshot-ears`. A socket may be left over from a crashed window.
import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hubFolder, socketHome } from '../../node/hubFolder.ts';
import { platform } from '../../node/platform/platform.ts';

const NAME = /^(window|ears)-\d+\.(sock|json)$/;
const MOST_FOLDERS = 64;
const MOST_ADDRESS = 10_000;

export interface FoundWindow {
  /** The address that programs connect to. */
  readonly path: string;
  readonly token?: string;
  /** The workspace folder. */
  readonly root: string;
  /** It is `earshot-ears`, which has no conversations. */
  readonly isEars?: true;
}

/** The most recently opened window first, `earshot-ears` last. Empty: nobody watches the folder or a parent of it. */
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

/** Those of this very folder, in the same order. */
export async function windowsOf(root: string, home = socketHome()): Promise<readonly FoundWindow[]> {
  try {
    return await socketsIn(await hubFolder(root, home), root);
  } catch {
    return [];
  }
}

/** Those whose sockets are in this folder, which belongs to a workspace folder. */
export async function socketsIn(folder: string, root: string): Promise<readonly FoundWindow[]> {
  try {
    if (!(await isOwn(folder))) return [];
    const names = (await readdir(folder)).filter((name) => NAME.test(name));
    const found = await Promise.all(names.map((name) => addressIn(join(folder, name), root)));
    return found
      .flat()
      .sort((a, b) => Number(a.isEars ?? false) - Number(b.isEars ?? false) || b.since - a.since)
      .map(({ since: _, ...window }) => window);
  } catch {
    return [];
  }
}

async function addressIn(path: string, root: string): Promise<(FoundWindow & { readonly since: number })[]> {
  try {
    if (!(await isOwn(path))) return [];
    const { mtimeMs: since, size } = await lstat(path);
    const found = { root, since, ...(basename(path).startsWith('ears-') && { isEars: true as const }) };
    if (path.endsWith('.sock')) return [{ path, ...found }];
    if (size > MOST_ADDRESS) return [];
    const { pipe, token } = JSON.parse(await readFile(path, 'utf8')) as { pipe?: unknown; token?: unknown };
    return typeof pipe === 'string' && typeof token === 'string' ? [{ path: pipe, token, ...found }] : [];
  } catch {
    return [];
  }
}

/** Whether this user owns the file and no other user can change it. */
async function isOwn(path: string): Promise<boolean> {
  const { user } = platform.disk;
  if (user === undefined) return true;
  const { uid, mode } = await lstat(path);
  return uid === user && (mode & 0o022) === 0;
}
