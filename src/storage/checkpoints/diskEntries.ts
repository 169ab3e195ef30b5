// Reads and writes directory entries without following links; supports links, executable files and non-UTF-8 names.
import { randomUUID } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { type DiskEntries, type DiskEntry, type FilePath, STALE } from '../../core/ports/workspace.ts';
import { diskPath, isOddName } from '../../node/files/rawNames.ts';

const EXECUTABLE = 0o111;

/** `folders` as in Workspace: with several, each has its name as its path. */
export function createDiskEntries(folders: () => readonly FilePath[]): DiskEntries {
  /** Undefined if a link on the path leads out of the workspace. */
  const placeOf = async (path: string): Promise<string | undefined> => {
    const all = folders();
    const home = all.find((folder) => folder.path !== '' && path.startsWith(`${folder.path}/`)) ?? all[0];
    if (home === undefined || path.split('/').includes('..')) return undefined;
    const inner = home.path === '' || !path.startsWith(`${home.path}/`) ? path : path.slice(home.path.length + 1);
    const absolute = join(home.absolute, ...inner.split('/'));
    const [root, parent] = [await realpath(home.absolute), await existing(dirname(absolute))];
    return parent === root || parent.startsWith(`${root}${sep}`) ? absolute : undefined;
  };
  const look = async (path: string): Promise<DiskEntry | 'other' | undefined> => {
    const absolute = await placeOf(path);
    if (absolute === undefined) return 'other';
    const place = diskPath(absolute);
    const stat = await lstat(place).catch(() => undefined);
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink()) return { bytes: await readlink(place, 'buffer'), kind: 'link' };
    if (!stat.isFile()) return 'other';
    return { bytes: await readFile(place), kind: (stat.mode & EXECUTABLE) === 0 ? 'plain' : 'executable' };
  };
  return {
    isOdd: isOddName,
    kindOf: async (path) => {
      const absolute = await placeOf(path).catch(() => undefined);
      const stat = absolute === undefined ? undefined : await lstat(diskPath(absolute)).catch(() => undefined);
      if (stat?.isSymbolicLink() === true) return 'link';
      if (stat?.isFile() !== true) return undefined;
      return (stat.mode & EXECUTABLE) === 0 ? 'plain' : 'executable';
    },
    look: (path) => attempt(path, () => look(path)),
    replace: (path, from, to) =>
      attempt(path, async () => {
        const absolute = await placeOf(path);
        const present = await look(path);
        if (absolute === undefined || !isSameEntry(present, from)) throw new StaleError(`${path} has changed.`);
        await put(absolute, present === 'other' ? undefined : present, to);
      }),
  };
}

async function put(absolute: string, present: DiskEntry | undefined, to: DiskEntry | undefined): Promise<void> {
  const place = diskPath(absolute);
  if (to === undefined) {
    if (present !== undefined) await unlink(place);
    return;
  }
  if (
    present !== undefined &&
    present.kind !== 'link' &&
    to.kind !== 'link' &&
    Buffer.compare(present.bytes, to.bytes) === 0
  ) {
    await chmod(place, modeOf((await lstat(place)).mode, to.kind));
    return;
  }
  await mkdir(diskPath(dirname(absolute)), { recursive: true });
  const mode = present === undefined || present.kind === 'link' ? undefined : (await lstat(place)).mode;
  // Written to a temporary file in the same folder and then renamed, so that nobody reads a partial file.
  const temporary = diskPath(join(dirname(absolute), `.${randomUUID()}.earshot`));
  try {
    if (to.kind === 'link') await symlink(Buffer.from(to.bytes), temporary);
    else {
      await writeFile(temporary, to.bytes, { flag: 'wx' });
      await chmod(temporary, modeOf(mode ?? (await lstat(temporary)).mode, to.kind));
    }
    await rename(temporary, place);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Executable for everybody who may read the file, or for nobody. */
function modeOf(mode: number, kind: DiskEntry['kind']): number {
  const plain = mode & 0o777 & ~EXECUTABLE;
  return kind === 'executable' ? plain | ((plain & 0o444) >> 2) : plain;
}

function isSameEntry(one: DiskEntry | 'other' | undefined, other: DiskEntry | undefined): boolean {
  if (one === 'other' || one === undefined || other === undefined) return one === other;
  return (one.kind === 'link') === (other.kind === 'link') && Buffer.compare(one.bytes, other.bytes) === 0;
}

/** The real path of the nearest existing folder, plus the missing rest. */
async function existing(folder: string): Promise<string> {
  try {
    return isOddName(folder) ? (await realpath(diskPath(folder), 'buffer')).toString() : await realpath(folder);
  } catch {
    const parent = dirname(folder);
    return parent === folder ? folder : join(await existing(parent), basename(folder));
  }
}

class StaleError extends Error {}

async function attempt<T>(path: string, action: () => Promise<T>): Promise<Result<T>> {
  try {
    return succeeded(await action());
  } catch (error) {
    if (error instanceof StaleError) return failed(STALE, error.message, 'Look at it again.');
    return failed('disk', `${path} could not be changed: ${describeError(error)}.`);
  }
}
