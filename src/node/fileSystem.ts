// The disk as a port: what storage needs of it, and what each call promises about power loss. A test can put another one in.
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

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
  remove(path: string): Promise<void>;
}

export const realFileSystem: FileSystem = {
  read: (path) => unlessMissing(readFile(path), undefined),
  openForAppend: async (path) => {
    const handle = await open(path, 'a', 0o600);
    await syncFolder(dirname(path));
    return appendFile(handle);
  },
  writeWhole: async (path, bytes) => {
    const temporary = `${path}.${process.pid}.tmp`;
    const handle = await open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
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
};

function appendFile(handle: FileHandle): AppendFile {
  return {
    append: async (bytes) => {
      let written = 0;
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
    },
    sync: () => handle.datasync(),
    truncate: (length) => handle.truncate(length),
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
