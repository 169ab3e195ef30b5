// The disk as a port: what storage needs of it, and what each call promises about power loss. A test can put another one in.
import { constants, statSync, watch } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Disposable, toDisposable } from '../base/disposable.ts';

export interface AppendFile {
  /** Writes all bytes at the end. They may still be lost until `sync`. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves once everything appended before survives a power loss. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

export interface FileSystem {
  /** Undefined if there is none. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Creates the file, durably, if there is none. */
  openForAppend(path: string): Promise<AppendFile>;
  /** Afterwards there is the whole file or, after a crash, what was there before. */
  writeWhole(path: string, bytes: Uint8Array): Promise<void>;
  /** Creates missing parents too, durably. */
  makeFolder(path: string): Promise<void>;
  /** Names in it; empty if there is none. */
  list(path: string): Promise<string[]>;
  /** With everything in it; nothing happens if there is none. */
  remove(path: string): Promise<void>;
  /** Durably; what was there before is replaced. */
  move(from: string, to: string): Promise<void>;
  /** Undefined if there is none. */
  stat(path: string): Promise<FileStat | undefined>;
  /**
   * The size of a file that was just written, without waiting for a thread: its inode is in memory. Undefined if there is
   * none.
   */
  sizeNow(path: string): number | undefined;
  /** What is there from this byte on; undefined if there is no file. */
  readFrom(path: string, offset: number): Promise<Uint8Array | undefined>;
  /** Makes it as new as if it had been written now. */
  touch(path: string): Promise<void>;
  /** Calls after something in the folder changed, at least once, perhaps oftener, and perhaps never on a network disk. */
  watch(folder: string, changed: () => void): Disposable;
}

interface FileStat {
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** The same as long as it is the same file, whatever is in it. */
  readonly identity: string;
}

/**
 * A write of a file that is opened so returns once its bytes are on disk: one call in place of two, which every cycle and
 * every notification waits for. Only Linux promises by it what a sync does, the disk's own cache included.
 */
const SYNCED_WRITES = process.platform === 'linux' ? constants.O_DSYNC : 0;

let temporaries = 0;

export const realFileSystem: FileSystem = {
  read: (path) => unlessMissing(readFile(path), undefined),
  openForAppend: async (path) => {
    const flags = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | SYNCED_WRITES;
    const handle = await open(path, flags, 0o600);
    await syncFolder(dirname(path));
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
      await rename(temporary, path);
    } catch (error) {
      // On a full disk the half that was written takes the room of something else.
      await rm(temporary, { force: true });
      throw error;
    }
    await syncFolder(dirname(path));
  },
  makeFolder: async (path) => {
    const first = await mkdir(path, { recursive: true, mode: 0o700 });
    if (first === undefined) return;
    // Every new entry is in the folder above it.
    for (let created = path; ; created = dirname(created)) {
      await syncFolder(dirname(created));
      if (created === first) return;
    }
  },
  list: (path) => unlessMissing(readdir(path), []),
  remove: (path) => rm(path, { recursive: true, force: true }),
  move: async (from, to) => {
    await rename(from, to);
    await syncFolder(dirname(to));
  },
  stat: async (path) => {
    const found = await unlessMissing(stat(path), undefined);
    return found && { size: found.size, modified: found.mtimeMs, identity: `${found.dev}:${found.ino}` };
  },
  sizeNow: (path) => statSync(path, { throwIfNoEntry: false })?.size,
  readFrom: async (path, offset) => {
    const handle = await unlessMissing(open(path, 'r'), undefined);
    if (handle === undefined) return undefined;
    try {
      return await readRest(handle, offset);
    } finally {
      await handle.close();
    }
  },
  touch: (path) => utimes(path, new Date(), new Date()),
  watch: (folder, changed) => {
    const watcher = watch(folder, { persistent: false }, changed);
    // A folder that is removed ends it; whoever follows it also looks by himself from time to time.
    watcher.on('error', () => watcher.close());
    return toDisposable(() => watcher.close());
  },
};

async function readRest(handle: FileHandle, offset: number): Promise<Uint8Array> {
  const { size } = await handle.stat();
  const bytes = Buffer.alloc(Math.max(0, size - offset));
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, offset + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

function appendFile(handle: FileHandle): AppendFile {
  /** Something may be lost that no write has brought to the disk. */
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
  // Windows cannot open a folder; its file system journals names by itself.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
