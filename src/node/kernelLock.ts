// Locks between processes that the kernel releases when the owner ends, even after a crash.
import { closeSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs';
import type * as sqliteModule from 'node:sqlite';
import { loadSqlite } from './sqlite.ts';

export interface KernelLock {
  release(): void;
}

/** Undefined if the lock is held, in this process or another. Throws if the disk fails. */
export type TryLock = (path: string) => KernelLock | undefined;

const SQLITE_BUSY = 5;
/** The file is not a database, or a damaged one. */
const SQLITE_UNREADABLE: readonly number[] = [11, 26];

/** Never open `path` by other means in this process: closing any handle to it would release the lock. */
export const tryKernelLock: TryLock = (path) => {
  const sqlite = loadSqlite();
  return sqlite === undefined ? tryPidFile(`${path}.pid`) : trySqlite(sqlite, path);
};

/** An open transaction that writes nothing, which uses SQLite's portable locking. */
function trySqlite(sqlite: typeof sqliteModule, path: string): KernelLock | undefined {
  const first = lockDatabase(sqlite, path);
  if (typeof first !== 'number') return first;
  // SQLite checks locks before it reads bytes, so the lock is free. The content is not needed. The file is emptied in
  // place, so that a process that does the same at this time locks the same file.
  if (SQLITE_UNREADABLE.includes(first)) truncateSync(path, 0);
  const second = lockDatabase(sqlite, path);
  if (typeof second !== 'number') return second;
  throw new Error(`the lock ${path} cannot be used (SQLite says ${second})`);
}

/** Returns the error code for a file that cannot be used. */
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
 * Without SQLite: a file with the owner's process id. This is weaker, since it checks whether that process is alive: a
 * new process with the same id keeps the lock until it ends, and processes of other machines cannot be checked.
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

/** True for an unreadable id, since another process may be writing it. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
