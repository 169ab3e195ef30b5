// Ensures that a change happens at the location that was judged: a parent folder may become a link at any time.
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { ignore } from '../../base/async.ts';
import { type Failure, failed, type Result, succeeded } from '../../base/errors.ts';
import { type FileCode } from '../../base/failureCodes.ts';
import { type HeldFolder, holdFolder } from './heldFolder.ts';
import { isSpelling, nameAsWritten, nameOfReal, type Place, realpathOfExisting } from './resolvePath.ts';

/** Failure code: the path leads elsewhere now. */
export const MOVED = 'moved';

export interface PinnedPlace {
  readonly file: Place;
  /** Where it is, without links. */
  readonly absolute: string;
  /** Why nothing may be changed there any more; undefined if the path still leads there. Called right before and after each change. */
  whyMoved(): Promise<Failure<FileCode> | undefined>;
  /** Opens its folder. With `create`, folders that were missing when the place was pinned are made. */
  hold(create: boolean): Promise<HeldFolder>;
}

/**
 * Fails if the path no longer leads where `file` says. `itself`: a link itself is changed, as by moving or deleting it,
 * instead of its target.
 */
export async function pinPlace(
  folders: readonly Place[],
  file: Place,
  { itself }: { readonly itself: boolean },
): Promise<Result<PinnedPlace, FileCode>> {
  const find = () => (itself ? placeOfLink(file.absolute) : placeOfContent(file.absolute));
  const pinned = await find();
  if (pinned === undefined) return failed('dangling', `${file.path} is a link that leads nowhere.`);
  if (!(await isAsSaid(folders, file, pinned, itself))) return { ok: false, failure: elsewhere(file) };
  const missing = await countMissing(dirname(pinned));
  return succeeded({
    file,
    absolute: pinned,
    whyMoved: async () => ((await find()) === pinned ? undefined : elsewhere(file)),
    hold: (create) => holdParent(folders, pinned, create ? missing : 0),
  });
}

async function countMissing(folder: string): Promise<number> {
  const isThere = await lstat(folder).catch(ignore);
  return isThere !== undefined || dirname(folder) === folder ? 0 : 1 + (await countMissing(dirname(folder)));
}

/** Opened from the workspace's folder on, so that no folder below it is followed if it becomes a link. */
async function holdParent(folders: readonly Place[], pinned: string, create: number): Promise<HeldFolder> {
  const parent = dirname(pinned);
  for (const folder of folders) {
    const root = await realpathOfExisting(folder.absolute);
    const inner = relative(root, parent);
    if (inner === '' || (inner !== '..' && !inner.startsWith(`..${sep}`) && !isAbsolute(inner)))
      return holdFolder(root, inner === '' ? [] : inner.split(sep), create);
  }
  return holdFolder(parent, []);
}

/** A file outside the workspace that the user allowed has no name inside it to compare. */
async function isAsSaid(folders: readonly Place[], file: Place, pinned: string, itself: boolean): Promise<boolean> {
  if (nameAsWritten(folders, file.absolute) !== file.path && file.path === file.absolute) return true;
  const name = await nameOfReal(folders, itself ? dirname(pinned) : pinned);
  if (name === undefined) return false;
  if (!itself) return isSpelling(name, file.real ?? file.path);
  return file.real !== undefined || isSpelling(name, file.path.split('/').slice(0, -1).join('/'));
}

async function placeOfLink(absolute: string): Promise<string> {
  return join(await realpathOfExisting(dirname(absolute)), basename(absolute));
}

/** Undefined for a dangling link: writing to it would create a file wherever it points. */
async function placeOfContent(absolute: string): Promise<string | undefined> {
  try {
    return await realpath(absolute);
  } catch {
    const there = await lstat(absolute).catch(ignore);
    return there === undefined ? realpathOfExisting(absolute) : undefined;
  }
}

export function elsewhere({ path }: Place): Failure<FileCode> {
  const message = `${path} was not changed: it, or a folder above it, was replaced by a link and leads elsewhere now.`;
  return { code: MOVED, message, nextStep: 'Look at what is there before you go on.' };
}
