// Reads and writes directory entries without following links; supports links, permissions and non-UTF-8 names.
import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink, rm, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { ignore } from '../../base/async.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { type DiskEntries, type DiskEntry, type EntryInfo, type FilePath, STALE } from '../../core/ports/workspace.ts';
import { type HeldFolder, holdFolder } from '../../node/files/heldFolder.ts';
import { decodeName, diskPath, isOddName } from '../../node/files/rawNames.ts';
import { codeOf, readRegular } from '../../node/files/readInside.ts';
import { LARGEST } from './checkpointFolder.ts';
import { renameFile } from '../../node/files/renameFile.ts';

const EXECUTABLE = 0o111;
const PERMISSIONS = 0o7777;
/** More levels of folders are not removed. */
const DEEPEST = 100;

/** `folders` as in Workspace: with several, each has its name as its path. */
export function createDiskEntries(folders: () => readonly FilePath[]): DiskEntries {
  /** The workspace's folder, and the names that lead from it to the entry. */
  const placeOf = (path: string): { readonly root: string; readonly names: readonly string[] } => {
    const all = folders();
    const home = all.find((folder) => folder.path !== '' && path.startsWith(`${folder.path}/`)) ?? all[0];
    const inner = home === undefined || home.path === '' ? path : path.slice(home.path.length + 1);
    const names = inner.split('/');
    if (home === undefined || names.includes('..')) throw new Error('it is outside the workspace');
    return { root: home.absolute, names };
  };
  /** Calls `use` with the opened folder that has the entry. Rejects if a link is in the place of a folder. */
  const inFolder = async <T>(
    path: string,
    create: boolean,
    use: (folder: HeldFolder, name: string) => Promise<T>,
  ): Promise<T> => {
    const { root, names } = placeOf(path);
    const folder = await holdFolder(root, names.slice(0, -1), create ? names.length - 1 : 0);
    try {
      return await use(folder, names.at(-1) ?? '');
    } finally {
      await folder.close();
    }
  };
  return {
    isOdd: isOddName,
    infoOf: async (path) => {
      try {
        const { root, names } = placeOf(path);
        const behind = await isBehind(root, names.slice(0, -1));
        const stat = await lstat(diskPath([root, ...names].join('/'))).catch(ignore);
        return { ...infoOf(stat), behind };
      } catch {
        return { kind: 'nothing', behind: false };
      }
    },
    look: (path) =>
      attempt(path, () =>
        inFolder(path, false, lookAt).catch((error: unknown) => {
          if (isMissing(error)) return undefined;
          if (isNoFolder(error)) return 'other' as const;
          throw error;
        }),
      ),
    replace: (path, from, to) =>
      attempt(path, () =>
        inFolder(path, to !== undefined, async (folder, name) => {
          const present = await lookAt(folder, name);
          const isSame = from === 'folder' ? present === 'other' : isSameEntry(present, from);
          if (!isSame) throw new StaleError(`${path} has changed.`);
          if (from === 'folder') await removeFolders(folder.at(name), path);
          await put(folder, name, present === 'other' ? undefined : present, to);
          // A success means that the path has it now, not only the folder that was opened.
          if (!(await folder.isStill())) throw new Error('a folder above it was replaced at the same moment');
        }),
      ),
  };
}

async function lookAt(folder: HeldFolder, name: string): Promise<DiskEntry | 'other' | undefined> {
  const place = folder.at(name);
  const stat = await lstat(place).catch(ignore);
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) return { bytes: await readlink(place, 'buffer'), kind: 'link' };
  if (!stat.isFile()) return 'other';
  const bytes = await readRegular(place, LARGEST);
  if (bytes === undefined) throw new Error('it cannot be read');
  return { bytes, kind: kindOf(stat), mode: stat.mode & PERMISSIONS };
}

function infoOf(stat: Stats | undefined): Omit<EntryInfo, 'behind'> {
  if (stat === undefined) return { kind: 'nothing' };
  if (stat.isSymbolicLink()) return { kind: 'link' };
  if (stat.isFile()) return { kind: kindOf(stat), mode: stat.mode & PERMISSIONS };
  return { kind: stat.isDirectory() ? 'folder' : 'other' };
}

function kindOf({ mode }: Stats): 'plain' | 'executable' {
  return (mode & EXECUTABLE) === 0 ? 'plain' : 'executable';
}

/** Whether something else than a folder is in the place of one of these folders. */
async function isBehind(root: string, names: readonly string[]): Promise<boolean> {
  for (let count = 1; count <= names.length; count += 1) {
    const stat = await lstat(diskPath([root, ...names.slice(0, count)].join('/'))).catch(ignore);
    if (stat === undefined) return false;
    if (!stat.isDirectory()) return true;
  }
  return false;
}

/** Removes a folder that has only folders. */
async function removeFolders(place: string | Buffer, path: string, depth = 0): Promise<void> {
  const entries = await readdir(place, { withFileTypes: true, encoding: 'buffer' });
  if (depth > DEEPEST || entries.some((entry) => !entry.isDirectory()))
    throw new StaleError(`${path} is a folder now, and it has files.`);
  for (const { name } of entries)
    await removeFolders(diskPath(`${decodeName(Buffer.from(place))}/${decodeName(name)}`), path, depth + 1);
  await rmdir(place);
}

async function put(
  folder: HeldFolder,
  name: string,
  present: DiskEntry | undefined,
  to: DiskEntry | undefined,
): Promise<void> {
  const place = folder.at(name);
  if (to === undefined) {
    if (present !== undefined) await unlink(place);
    return;
  }
  const file = present?.kind === 'link' ? undefined : present;
  if (file !== undefined && to.kind !== 'link' && Buffer.compare(file.bytes, to.bytes) === 0) {
    await setMode(place, modeFor(file.mode, to));
    return;
  }
  // Written to a temporary file in the same folder and then renamed, so that nobody reads a partial file.
  const temporary = folder.at(`.${randomUUID()}.earshot`);
  try {
    if (to.kind === 'link') await symlink(Buffer.from(to.bytes), temporary);
    else {
      await writeFile(temporary, to.bytes, { flag: 'wx', ...(to.mode !== undefined && { mode: 0o600 }) });
      await setMode(temporary, modeFor(file?.mode ?? (await lstat(temporary)).mode, to));
    }
    await renameFile(temporary, place);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Through an opened file: the path could be a link by now. */
async function setMode(place: string | Buffer, mode: number): Promise<void> {
  const handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}

/** Without exact bits: executable for everybody who may read the file, or for nobody. */
function modeFor(present = 0o644, { mode, kind }: DiskEntry): number {
  if (mode !== undefined) return mode & PERMISSIONS;
  const plain = present & 0o777 & ~EXECUTABLE;
  return kind === 'executable' ? plain | ((plain & 0o444) >> 2) : plain;
}

function isSameEntry(one: DiskEntry | 'other' | undefined, other: DiskEntry | undefined): boolean {
  if (one === 'other' || one === undefined || other === undefined) return one === other;
  return (one.kind === 'link') === (other.kind === 'link') && Buffer.compare(one.bytes, other.bytes) === 0;
}

class StaleError extends Error {}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

function isNoFolder(error: unknown): boolean {
  return codeOf(error) === 'ENOTDIR' || codeOf(error) === 'ELOOP';
}

async function attempt<T>(path: string, action: () => Promise<T>): Promise<Result<T>> {
  try {
    return succeeded(await action());
  } catch (error) {
    if (error instanceof StaleError) return failed(STALE, error.message, 'Look at it again.');
    if (isNoFolder(error)) return failed(STALE, `A folder above ${path} is a link or a file now.`, 'Look at it again.');
    return failed('disk', `${path} could not be changed: ${describeError(error)}.`);
  }
}
