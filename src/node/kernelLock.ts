// Keeps all other processes out: a lock that the kernel frees when the process dies, however it dies.
import { closeSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs';
import type * as sqliteModule from 'node:sqlite';

export interface KernelLock {
  release(): void;
}

/** Undefined if somebody has it, in this process or another. Throws if the disk refuses. */
export type TryLock = (path: string) => KernelLock | undefined;

const SQLITE_BUSY = 5;
/** What is in the file is not a database, or a damaged one. */
const SQLITE_UNREADABLE: readonly number[] = [11, 26];

/** Never open `path` by other means in this process: closing any handle to it would free the lock. */
export const tryKernelLock: TryLock = (path) => {
  const sqlite = loadSqlite();
  return sqlite === undefined ? tryPidFile(`${path}.pid`) : trySqlite(sqlite, path);
};

function loadSqlite(): typeof sqliteModule | undefined {
  // From Node 22.13 and VS Code 1.101 on it is there without a flag; `getBuiltinModule` asks without failing.
  const ask = process.getBuiltinModule as typeof process.getBuiltinModule | undefined;
  return ask?.('node:sqlite');
}

/** A transaction that never ends: nothing is ever written, only SQLite's way of locking on every system is used. */
function trySqlite(sqlite: typeof sqliteModule, path: string): KernelLock | undefined {
  const first = lockDatabase(sqlite, path);
  if (typeof first !== 'number') return first;
  // A held lock is found before the bytes are read, so nobody has it. Nothing in the file is needed; it is emptied in
  // place, because whoever does the same at this moment must meet the same file.
  if (SQLITE_UNREADABLE.includes(first)) truncateSync(path, 0);
  const second = lockDatabase(sqlite, path);
  if (typeof second !== 'number') return second;
  throw new Error(`the lock ${path} cannot be used (SQLite says ${second})`);
}

/** The error's code for a file that cannot be used. */
function lockDatabase(sqlite: typeof sqliteModule, path: string): KernelLock | undefined | number {
  const database = new sqlite.DatabaseSync(path);
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
    if (code === SQLITE_BUSY) return undefined;
    if (typeof code !== 'number') throw error;
    return code;
  }
  return { release: () => database.close() };
}

/**
 * Where there is no SQLite: a file that names its process. Weaker, as it rests on asking whether that process lives: one
 * that was given the same number meanwhile keeps the lock until it ends, and another machine's cannot be asked.
 */
export function tryPidFile(path: string): KernelLock | undefined {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const handle = openSync(path, 'wx', 0o600);
      writeSync(handle, String(process.pid));
      closeSync(handle);
      return { release: () => rmSync(path, { force: true }) };
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error;
      if (isAlive(pidIn(path))) return undefined;
      rmSync(path, { force: true });
    }
  }
  return undefined;
}

function pidIn(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10);
  } catch {
    return Number.NaN;
  }
}

/** A number that cannot be read is that of a process which is just being written down. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
