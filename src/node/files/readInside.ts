// Resolves a path on disk, lets the caller judge the result, and reads exactly the judged file.
import { constants, lstat as lstatWithCallback } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { describeError, type Failure, failed, type Result, succeeded } from '../../base/errors.ts';
import { type FileCode } from '../../base/failureCodes.ts';
import { platform } from '../platform/platform.ts';
import { readFrom } from './fileSystem.ts';
import { isSpelling, nameAsWritten, nameOfReal, type Place, realpathOfExisting } from './resolvePath.ts';

/** `path` as written, `real` where its links lead, both relative to the workspace. */
export interface Located {
  readonly path: string;
  /** Absent if the path has no links, or if it leads out of the workspace. */
  readonly real?: string;
  readonly outside: boolean;
  /** The resolved absolute path. */
  readonly absolute: string;
}

interface Content {
  readonly bytes: Uint8Array;
  readonly unsaved: boolean;
  readonly size?: number;
  readonly identity?: string;
  readonly modified?: number;
  readonly born?: number;
}

interface Part {
  readonly from: number;
  readonly length: number;
}

export interface JudgedRead {
  /** Why the file must not be read; undefined if it may be. */
  judge(place: Located): Failure | undefined | Promise<Failure | undefined>;
  /** Limit in bytes. */
  readonly atMost: number;
  /** Only these bytes of the file on disk; `atMost` does not count then. */
  readonly part?: Part | undefined;
  /** Content that replaces the disk's: a buffer with unsaved changes, by the path or the resolved path. */
  instead?(place: Pick<Located, 'real'>): Promise<Content | undefined>;
}

const MOVED = 'moved';
/** A file that is replaced during the read is tried again. */
const TRIES = 3;
/** Windows has only O_RDONLY; there links are detected by comparing file identities. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | platform.disk.nonBlocking;

export async function readJudged(folders: readonly Place[], file: Place, how: JudgedRead): Promise<Result<Content>> {
  // Most requested files do not exist: one check is enough for them.
  if ((await isMissing(file.absolute)) && (await how.instead?.({})) === undefined) {
    return { ok: false, failure: notFound(nameInFolder(file)) };
  }
  let result: Result<Content> = moved(file.path);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const located = await locate(folders, file);
    if (!located.ok) return located;
    const refused = await how.judge(located.value);
    if (refused !== undefined) return { ok: false, failure: refused };
    const instead = how.part === undefined ? await how.instead?.(located.value) : undefined;
    if (instead !== undefined) return succeeded(instead);
    result = await readLocated(nameInFolder(file), located.value.absolute, how);
    if (result.ok || result.failure.code !== MOVED) return result;
  }
  return result;
}

/**
 * Also locates missing files, since a buffer may exist and the folder may lead outside. A dangling link is `not_found`.
 */
export async function locate(folders: readonly Place[], file: Place): Promise<Result<Located, FileCode>> {
  try {
    const absolute = await realpathOrName(file.absolute);
    const path = nameAsWritten(folders, file.absolute) ?? file.absolute;
    const real = await nameOfReal(folders, absolute);
    return succeeded({
      path,
      absolute,
      outside: real === undefined,
      ...(real !== undefined && real !== path && { real }),
    });
  } catch (error) {
    return { ok: false, failure: explain(nameInFolder(file), error) };
  }
}

async function realpathOrName(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && (await isMissing(path))) return realpathOfExisting(path);
    throw error;
  }
}

/** A dangling link is not missing. Uses a callback: most files are missing, and a rejection costs more than lstat. */
function isMissing(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    lstatWithCallback(path, (error) => resolve(error?.code === 'ENOENT' || error?.code === 'ENOTDIR'));
  });
}

async function readLocated(
  name: string,
  real: string,
  { atMost, part }: Pick<JudgedRead, 'atMost' | 'part'>,
): Promise<Result<Content, FileCode>> {
  try {
    // Opening a pipe blocks, and opening a device may have effects.
    const before = await lstat(real, { bigint: true });
    if (before.isSymbolicLink()) return moved(name);
    if (before.isDirectory()) return failed('is_folder', `${name} is a folder.`, 'list_files shows what is in it.');
    if (!before.isFile()) return failed('not_regular', `${name} is not a regular file, so it is not read.`);
    if (part === undefined && before.size > atMost) return tooBig(name, Number(before.size), atMost);
    const handle = await open(real, FLAGS);
    try {
      if (!(await isStill(handle, real))) return moved(name);
      if (part !== undefined) return succeeded(await readPart(handle, part));
      const bytes = await readAtMost(handle, atMost);
      if (bytes === undefined) return tooBig(name, (await handle.stat()).size, atMost);
      return succeeded({ bytes, unsaved: false });
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (codeOf(error) === 'ELOOP') return moved(name);
    return { ok: false, failure: explain(name, error) };
  }
}

async function readPart(handle: FileHandle, { from, length }: Part): Promise<Content> {
  const { size, dev, ino, mtimeNs, birthtimeNs } = await handle.stat({ bigint: true });
  return {
    bytes: await readFrom(handle, from, Math.min(length, Number(size) - from)),
    unsaved: false,
    size: Number(size),
    identity: `${dev}:${ino}`,
    modified: Number(mtimeNs) / 1e6,
    ...(birthtimeNs > 0n && { born: Number(birthtimeNs) / 1e6 }),
  };
}

/** Undefined if it is missing, larger, unreadable, or not a regular file; a pipe or a device is never waited for. */
export async function readRegular(path: string | Buffer, atMost: number): Promise<Uint8Array | undefined> {
  try {
    if (!(await lstat(path)).isFile()) return undefined;
    const handle = await open(path, FLAGS);
    try {
      return (await handle.stat()).isFile() ? await readAtMost(handle, atMost) : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

/** Whether the opened file is the one at `real`: a parent folder may have become a link meanwhile. */
async function isStill(handle: FileHandle, real: string): Promise<boolean> {
  const opened = await handle.stat({ bigint: true });
  if (!opened.isFile()) return false;
  // The kernel reports what was opened, wherever the path leads now.
  const kernel = await platform.disk.pathOfOpened(handle);
  if (kernel !== undefined) return kernel === real || isSpelling(kernel, real);
  if ((await realpath(real)) !== real) return false;
  const now = await lstat(real, { bigint: true });
  return now.dev === opened.dev && now.ino === opened.ino;
}

/** Undefined if the file has more bytes: it may grow during the read, and some files report no size. */
export async function readAtMost(handle: FileHandle, atMost: number): Promise<Uint8Array | undefined> {
  const { size } = await handle.stat();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let room = size + 1; ; room = 64 * 1024) {
    const part = new Uint8Array(Math.min(room, atMost + 1 - length));
    const { bytesRead } = await handle.read(part, 0, part.length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
    if (length > atMost) return undefined;
    parts.push(part.subarray(0, bytesRead));
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : bytes;
}

function nameInFolder(file: Place): string {
  return file.path === '' ? 'The folder' : file.path;
}

function moved(name: string): Result<never, FileCode> {
  return failed(MOVED, `${name} was replaced while it was read.`, 'Try again.');
}

export function tooBig(name: string, size: number, atMost: number): Result<never, FileCode> {
  const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024);
  const limit = `${megabytes(size)} MB; at most ${megabytes(atMost)}`;
  return failed('too_big', `${name} is too big (${limit}).`, 'run_command can look into it.');
}

function notFound(name: string): Failure<FileCode> {
  return { code: 'not_found', message: `${name} does not exist.`, nextStep: 'list_files shows what is there.' };
}

function explain(name: string, error: unknown): Failure<FileCode> {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return notFound(name);
    case 'EACCES':
    case 'EPERM':
      return { code: 'no_rights', message: `${name} may not be read: the rights are missing.` };
    case 'ELOOP':
      return { code: 'unreadable', message: `${name} cannot be read: its links lead in a circle.` };
    default:
      return { code: 'unreadable', message: `${name} cannot be read: ${describeError(error)}` };
  }
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
