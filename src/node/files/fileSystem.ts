// The disk as a port for storage, with each call's guarantees on power loss. Tests use other implementations.
import { constants, statSync, watch } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { platform } from '../platform/platform.ts';
import { renameFile } from './renameFile.ts';

export interface AppendFile {
  /** Writes all bytes at the end. They may still be lost until `sync`. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves once everything appended before survives a power loss. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

export interface FileSystem {
  /** Undefined if it is missing. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Creates the file durably if it is missing. */
  openForAppend(path: string): Promise<AppendFile>;
  /** Atomic: after a crash there is either the new content or the previous one. */
  writeWhole(path: string, bytes: Uint8Array): Promise<void>;
  /** Creates the folder and missing parents durably. */
  makeFolder(path: string): Promise<void>;
  /** Names in the folder; empty if it is missing. */
  list(path: string): Promise<string[]>;
  /** Removes the file or folder with its contents, if it exists. */
  remove(path: string): Promise<void>;
  /** Durable; replaces what is at `to`. */
  move(from: string, to: string): Promise<void>;
  /** Undefined if it is missing. */
  stat(path: string): Promise<FileStat | undefined>;
  /** The size of a file that was just written, without waiting for a thread. Undefined if the file is missing. */
  sizeNow(path: string): number | undefined;
  /** The bytes from this offset on: at least `enough`, or all if there are fewer. Undefined if the file is missing. */
  readFrom(path: string, offset: number, enough?: number): Promise<Uint8Array | undefined>;
  /** Sets its modification time to now. */
  touch(path: string): Promise<void>;
  /**
   * Calls `changed` after a change in the folder, with the name of the entry if it is known. One change may cause
   * several calls; on a network disk there may be none.
   */
  watch(folder: string, changed: (name: string | undefined) => void): Disposable;
}

interface FileStat {
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** Identifies the file, whatever its content. */
  readonly identity: string;
}

/** Saves a sync for every cycle and notification. */
const SYNCED_WRITES = platform.disk.syncedWrites;

let temporaries = 0;

export const realFileSystem: FileSystem = {
  read: (path) => unlessMissing(readFile(path), undefined),
  openForAppend: async (path) => {
    const flags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | SYNCED_WRITES;
    const handle = await open(path, flags, 0o600);
    try {
      await syncFolder(dirname(path));
    } catch (error) {
      await handle.close();
      throw error;
    }
    return appendFile(handle);
  },
  writeWhole: async (path, bytes) => {
    const temporary = `${path}.${process.pid}-${temporaries++}.tmp`;
    const handle = await open(temporary, 'w', 0o600);
    try {
      try {
        await handle.writeFile(bytes);
        await handle.datasync();
      } finally {
        await handle.close();
      }
      await renameFile(temporary, path);
    } catch (error) {
      // On a full disk the partial file would take up space.
      await rm(temporary, { force: true });
      throw error;
    }
    await syncFolder(dirname(path));
  },
  makeFolder: async (path) => {
    const first = await mkdir(path, { recursive: true, mode: 0o700 });
    // Windows spells the first created folder in another way, so it could not be recognized.
    if (first === undefined || !platform.disk.syncsFolders) return;
    // Each new folder is an entry of its parent, which must be synced.
    for (let created = path; ; created = dirname(created)) {
      await syncFolder(dirname(created));
      if (created === first) return;
    }
  },
  list: (path) => unlessMissing(readdir(path), []),
  remove: (path) => rm(path, { recursive: true, force: true }),
  move: async (from, to) => {
    await renameFile(from, to);
    await syncFolder(dirname(to));
  },
  stat: async (path) => {
    const found = await unlessMissing(stat(path), undefined);
    return found && { size: found.size, modified: found.mtimeMs, identity: `${found.dev}:${found.ino}` };
  },
  sizeNow: (path) => statSync(path, { throwIfNoEntry: false })?.size,
  readFrom: async (path, offset, enough) => {
    const handle = await unlessMissing(open(path, 'r'), undefined);
    if (handle === undefined) return undefined;
    try {
      return await readFrom(handle, offset, enough);
    } finally {
      await handle.close();
    }
  },
  touch: (path) => utimes(path, new Date(), new Date()),
  watch: (folder, changed) => {
    const watcher = watch(folder, { persistent: false }, (_, name) => changed(name ?? undefined));
    // Removing the folder ends the watcher; followers also poll.
    watcher.on('error', () => watcher.close());
    return toDisposable(() => watcher.close());
  },
};

/** The bytes from an offset on, at most as many as this; fewer at the end of the file. */
export async function readFrom(
  handle: FileHandle,
  offset: number,
  enough = Number.POSITIVE_INFINITY,
): Promise<Buffer<ArrayBuffer>> {
  const { size } = await handle.stat();
  const bytes = Buffer.alloc(Math.max(0, Math.min(enough, size - offset)));
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, offset + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

function appendFile(handle: FileHandle): AppendFile {
  /** Bytes were written that are not yet synced. */
  let unsynced = false;
  return {
    append: async (bytes) => {
      if (SYNCED_WRITES === 0) unsynced = true;
      let written = 0;
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
    },
    sync: async () => {
      if (unsynced) await handle.datasync();
      unsynced = false;
    },
    truncate: (length) => {
      unsynced = true;
      return handle.truncate(length);
    },
    close: () => handle.close(),
  };
}

async function unlessMissing<T, D>(found: Promise<T>, otherwise: D): Promise<T | D> {
  try {
    return await found;
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

async function syncFolder(path: string): Promise<void> {
  if (!platform.disk.syncsFolders) return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
