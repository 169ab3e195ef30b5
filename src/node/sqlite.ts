// Loads Node's SQLite, which older versions of Node and VS Code do not have.
import type * as sqliteModule from 'node:sqlite';

/** Available without a flag since Node 22.13 and VS Code 1.101; undefined before. */
export function loadSqlite(): typeof sqliteModule | undefined {
  const ask = process.getBuiltinModule as typeof process.getBuiltinModule | undefined;
  return ask?.('node:sqlite');
}
