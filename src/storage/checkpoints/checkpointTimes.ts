// Finds when files were last changed, on file systems that use this machine's clock.
import { lstat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type PlacedFile } from '../../core/ports/storage.ts';
import { diskPath } from '../../node/files/rawNames.ts';

const AT_ONCE = 64;

/** Linux file systems whose times come from this machine's clock; others may use a server's. */
const LOCAL = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0xca451a4e, // bcachefs
  0x01021994, // tmpfs
  0x794c7630, // overlay
]);

/**
 * For a deleted file, the time of the last change of its folder, or of what is in the place of that folder. For a file
 * that was moved with its folder, the time of the move.
 */
export async function changedAt(files: readonly PlacedFile[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const local = new Map<string, Promise<boolean>>();
  const time = async (file: PlacedFile): Promise<void> => {
    const at = await timeOf(file);
    if (at === undefined) return;
    const isLocal = local.get(at.folder) ?? hasLocalClock(at.folder);
    local.set(at.folder, isLocal);
    if (await isLocal) found.set(file.path, at.milliseconds);
  };
  for (let at = 0; at < files.length; at += AT_ONCE) await Promise.all(files.slice(at, at + AT_ONCE).map(time));
  return found;
}

async function timeOf({ path, absolute, movedIn }: PlacedFile): Promise<FoundTime | undefined> {
  let newest = 0;
  for (const folder of foldersAbove(absolute, path.split('/').length - 1)) {
    const stat = await lstat(diskPath(folder)).catch(() => undefined);
    if (stat === undefined) break;
    if (!stat.isDirectory()) return { milliseconds: stat.ctimeMs, folder: dirname(folder) };
    newest = Math.max(newest, stat.ctimeMs);
  }
  const folder = dirname(absolute);
  const stat = await lstat(diskPath(absolute)).catch(() => undefined);
  if (stat === undefined) return folderTime(folder);
  return { milliseconds: movedIn === true ? Math.max(stat.ctimeMs, newest) : stat.ctimeMs, folder };
}

/** So many folders above the file, the outermost first. */
function foldersAbove(absolute: string, count: number): string[] {
  const folders: string[] = [];
  for (let folder = dirname(absolute); folders.length < count; folder = dirname(folder)) folders.unshift(folder);
  return folders;
}

interface FoundTime {
  readonly milliseconds: number;
  readonly folder: string;
}

/** The time of the nearest existing folder. */
async function folderTime(folder: string): Promise<FoundTime | undefined> {
  const stat = await lstat(diskPath(folder)).catch(() => undefined);
  if (stat !== undefined) return { milliseconds: stat.mtimeMs, folder };
  return dirname(folder) === folder ? undefined : folderTime(dirname(folder));
}

async function hasLocalClock(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  return statfs(diskPath(folder)).then(
    ({ type }) => LOCAL.has(type >>> 0),
    () => false,
  );
}
