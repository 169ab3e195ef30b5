// Holds a change of a file to the place that it was judged for: a folder above it may become a link at any moment.

import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Failure, failed, type Result, succeeded } from '../base/errors.ts';
import { type FileCode } from '../base/failureCodes.ts';
import { nameAsWritten, nameOfReal, type Place, realpathOfExisting } from './resolvePath.ts';

/** The code of the failure of a change whose place became another. */
export const MOVED = 'moved';

export interface PinnedPlace {
  /** Why nothing may be changed there any more; undefined: the name leads where it led. Asked right before and after each change. */
  whyMoved(): Promise<Failure<FileCode> | undefined>;
}

/**
 * Fails if the name does not lead any more where `file` says. `itself`: a link is changed itself, as by moving or deleting
 * it, instead of the file that it leads to.
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
  return succeeded({ whyMoved: async () => ((await find()) === pinned ? undefined : elsewhere(file)) });
}

/** What a person let in from outside the workspace has no name in it to be held to. */
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

/** Undefined for a link that leads nowhere: writing to it would make a file wherever it points. */
async function placeOfContent(absolute: string): Promise<string | undefined> {
  try {
    return await realpath(absolute);
  } catch {
    const there = await lstat(absolute).catch(() => undefined);
    return there === undefined ? realpathOfExisting(absolute) : undefined;
  }
}

/** Where the disk does not tell two spellings apart, both are one name. */
function isSpelling(one: string, other: string): boolean {
  const plain = (path: string) => path.normalize('NFC').toLowerCase();
  return plain(one) === plain(other);
}

function elsewhere({ path }: Place): Failure<FileCode> {
  const message = `${path} was not changed: it, or a folder above it, was replaced by a link and leads elsewhere now.`;
  return { code: MOVED, message, nextStep: 'Look at what is there before you go on.' };
}
