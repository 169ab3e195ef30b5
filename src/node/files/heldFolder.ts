// Opens a folder of the workspace component by component, without following links, and names files in it by the opened
// folder: a folder that is replaced by a link meanwhile does not lead a change elsewhere.
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ignore } from '../../base/async.ts';
import { type Disk } from '../platform/parts.ts';
import { platform } from '../platform/platform.ts';
import { diskPath } from './rawNames.ts';

export interface HeldFolder {
  /** The path of an entry of the opened folder, whatever its own path leads to now. */
  at(name: string): string | Buffer;
  /** Whether the path still leads to the opened folder. */
  isStill(): Promise<boolean>;
  close(): Promise<void>;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * `inner`: the folder's path below `root`, which may be a link itself. `create`: so many of its last folders are made if
 * they are missing. Rejects if another part is missing or no folder.
 */
export async function holdFolder(root: string, inner: readonly string[], create = 0): Promise<HeldFolder> {
  const real = await realpath(root);
  const { entryOf } = platform.disk;
  // Without it, the folder is compared before and after.
  return entryOf === undefined ? holdByPath(real, inner, create) : holdOpened(real, inner, create, entryOf);
}

async function holdOpened(
  real: string,
  inner: readonly string[],
  create: number,
  pathOf: NonNullable<Disk['entryOf']>,
): Promise<HeldFolder> {
  const entryOf = (folder: FileHandle, name: string) => diskPath(pathOf(folder, name));
  let held = await open(real, FLAGS);
  try {
    for (const [index, name] of inner.entries()) {
      const place = entryOf(held, name);
      if (index >= inner.length - create) await makeMissing(place);
      const next = await open(place, FLAGS);
      await held.close();
      held = next;
    }
  } catch (error) {
    await held.close();
    throw error;
  }
  const { dev, ino } = await held.stat({ bigint: true });
  return {
    at: (name) => entryOf(held, name),
    isStill: () => isFolder(diskPath(join(real, ...inner)), dev, ino),
    close: () => held.close(),
  };
}

async function holdByPath(real: string, inner: readonly string[], create: number): Promise<HeldFolder> {
  let path = real;
  for (const [index, name] of inner.entries()) {
    path = join(path, name);
    if (index >= inner.length - create) await makeMissing(diskPath(path));
    if (!(await lstat(diskPath(path))).isDirectory()) throw new Error(`${name} is not a folder`);
  }
  const { dev, ino } = await lstat(diskPath(path), { bigint: true });
  return {
    at: (name) => diskPath(join(path, name)),
    isStill: () => isFolder(diskPath(path), dev, ino),
    close: async () => undefined,
  };
}

async function makeMissing(place: string | Buffer): Promise<void> {
  await mkdir(place).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
}

async function isFolder(path: string | Buffer, dev: bigint, ino: bigint): Promise<boolean> {
  const now = await lstat(path, { bigint: true }).catch(ignore);
  return now?.isDirectory() === true && now.dev === dev && now.ino === ino;
}
