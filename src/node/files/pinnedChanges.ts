// Changes files at pinned places, in opened folders: a folder that is swapped for a link meanwhile leads no byte
// elsewhere, and a change that is not at its path afterwards is reverted and fails.
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, open, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { ignore } from '../../base/async.ts';
import { describeError, failed, type Result, succeeded } from '../../base/errors.ts';
import { type HeldFolder } from './heldFolder.ts';
import { elsewhere, type PinnedPlace } from './pinnedPlace.ts';
import { codeOf, readAtMost, readRegular } from './readInside.ts';
import { renameFile } from './renameFile.ts';

/** Failure code: there are other bytes than expected. */
const STALE = 'stale';
const NOTHING_FOLLOWED = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The bytes at the place itself; undefined if there is no regular file. */
export async function readPinned(place: PinnedPlace): Promise<Uint8Array | undefined> {
  return inHeld(place, false, (folder, name) => readRegular(folder.at(name), Number.MAX_SAFE_INTEGER)).catch(ignore);
}

/** Identifies the entry at the place itself; undefined if there is none. */
export async function identityAt(place: PinnedPlace): Promise<string | undefined> {
  return inHeld(place, false, async (folder, name) => identityOf(await lstat(folder.at(name), BIG))).catch(ignore);
}

/** The permission bits of the file at the place itself; nothing for a link, a virtual file system, or no file. */
export async function modeBefore(place: PinnedPlace | undefined): Promise<{ readonly beforeMode?: number }> {
  if (place === undefined) return {};
  const stat = await inHeld(place, false, (folder, name) => lstat(folder.at(name))).catch(ignore);
  return stat?.isFile() === true ? { beforeMode: stat.mode & 0o7777 } : {};
}

/** Without `from` the file must not exist. */
export function writePinned(place: PinnedPlace, from: Uint8Array | undefined, to: Uint8Array): Promise<Result<void>> {
  return attempt(place, from === undefined, async (folder, name) => {
    const entry = folder.at(name);
    const flags = from === undefined ? constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY : constants.O_RDWR;
    const handle = await open(entry, flags | NOTHING_FOLLOWED);
    try {
      if (!(await handle.stat()).isFile()) return stale(place);
      if (from !== undefined && !haveSameBytes(await readAtMost(handle, Number.MAX_SAFE_INTEGER), from))
        return stale(place);
      try {
        await overwrite(handle, to);
      } catch (error) {
        // Such as a full disk: the former bytes still fit.
        if (from === undefined) await unlink(entry);
        else await overwrite(handle, from);
        throw error;
      }
      if (await isHere(place, folder, identityOf(await handle.stat(BIG)))) return succeeded(undefined);
      if (from === undefined) await unlink(entry);
      else await overwrite(handle, from);
      return { ok: false, failure: elsewhere(place.file) };
    } finally {
      await handle.close();
    }
  });
}

/** Deletes the entry itself, even if it is a link. */
export function deletePinned(place: PinnedPlace, from: Uint8Array): Promise<Result<void>> {
  return attempt(place, false, async (folder, name) => {
    const present = (await lstat(folder.at(name))).isSymbolicLink() ? from : await readPinned(place);
    if (!haveSameBytes(present, from)) return stale(place);
    if (!(await folder.isStill())) return { ok: false, failure: elsewhere(place.file) };
    await unlink(folder.at(name));
    return succeeded(undefined);
  });
}

/** There must be nothing at the target. */
export function movePinned(place: PinnedPlace, target: PinnedPlace): Promise<Result<void>> {
  return attempt(place, false, (folder, name) =>
    inHeld(target, true, async (other, newName) => {
      const [from, to] = [folder.at(name), other.at(newName)];
      const identity = identityOf(await lstat(from, BIG));
      await renameToFree(from, to);
      if ((await folder.isStill()) && (await isHere(target, other, identity))) return succeeded(undefined);
      await renameFile(to, from);
      return { ok: false, failure: elsewhere(place.file) };
    }),
  );
}

/** A rename alone would replace what has appeared there. */
async function renameToFree(from: string | Buffer, to: string | Buffer): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    // Not every file system has a second name for a file.
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOENT') throw error;
    await renameFile(from, to);
    return;
  }
  await unlink(from);
}

const BIG = { bigint: true } as const;

function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}

async function isHere(place: PinnedPlace, folder: HeldFolder, identity: string): Promise<boolean> {
  if (!(await folder.isStill())) return false;
  const now = await lstat(place.absolute, BIG).catch(ignore);
  return now !== undefined && identityOf(now) === identity && (await place.whyMoved()) === undefined;
}

async function overwrite(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  let at = 0;
  while (at < bytes.length) at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
  await handle.truncate(bytes.length);
}

async function inHeld<T>(
  place: PinnedPlace,
  create: boolean,
  use: (folder: HeldFolder, name: string) => Promise<T>,
): Promise<T> {
  const folder = await place.hold(create);
  try {
    return await use(folder, basename(place.absolute));
  } finally {
    await folder.close();
  }
}

async function attempt(
  place: PinnedPlace,
  create: boolean,
  use: (folder: HeldFolder, name: string) => Promise<Result<void>>,
): Promise<Result<void>> {
  try {
    return await inHeld(place, create, use);
  } catch (error) {
    const code = codeOf(error);
    // A link or a file is in the place of a folder, or a link in the place of the file.
    if (code === 'ENOTDIR' || code === 'ELOOP') return { ok: false, failure: elsewhere(place.file) };
    if (code === 'EEXIST' || code === 'ENOENT') return stale(place);
    return failed('unwritable', `${place.file.path} could not be changed: ${describeError(error)}.`);
  }
}

function stale({ file }: PinnedPlace): Result<never> {
  return failed(STALE, `${file.path} was changed at the same moment.`, 'Read it again.');
}

export function haveSameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : Buffer.compare(one, other) === 0;
}
