// Finds when files were last changed, on file systems that use this machine's clock.
import { lstat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type FilePath } from '../../core/ports/workspace.ts';
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

/** For a deleted file, the time of the last change of its folder. */
export async function changedAt(files: readonly FilePath[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  const local = new Map<string, Promise<boolean>>();
  const time = async ({ path, absolute }: FilePath): Promise<void> => {
    const at = await lstat(diskPath(absolute)).then(
      ({ ctimeMs }) => ({ milliseconds: ctimeMs, folder: dirname(absolute) }),
      () => folderTime(dirname(absolute)),
    );
    if (at === undefined) return;
    const isLocal = local.get(at.folder) ?? hasLocalClock(at.folder);
    local.set(at.folder, isLocal);
    if (await isLocal) found.set(path, at.milliseconds);
  };
  for (let at = 0; at < files.length; at += AT_ONCE) await Promise.all(files.slice(at, at + AT_ONCE).map(time));
  return found;
}

/** The time of the nearest existing folder. */
async function folderTime(folder: string): Promise<{ milliseconds: number; folder: string } | undefined> {
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
