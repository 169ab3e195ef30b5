// Another process that opens the hub's index: it holds a lock, or changes the file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const PROGRAM = `
const { DatabaseSync } = require('node:sqlite');
const [path, sql] = process.argv.slice(1);
const database = new DatabaseSync(path);
database.exec(sql);
console.log('done');
process.stdin.on('data', () => process.exit(0));
process.stdin.on('end', () => process.exit(0));
`;

/** Runs the statements, and keeps the process with its locks until `end` is called. */
export async function runSqlElsewhere(path: string, sql: string): Promise<{ end(): Promise<void> }> {
  const child = spawn(process.execPath, ['--no-warnings', '-e', PROGRAM, path, sql], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const done = await Promise.race([once(lines, 'line').then(() => true), ended.then(() => false)]);
  if (!done) throw new Error('the other process has failed');
  return {
    end: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** Writers have to wait; with `PRAGMA locking_mode` readers too. */
export const EXCLUSIVE = 'BEGIN EXCLUSIVE';
export const TOUCH = 'UPDATE meta SET value = value';
export const NOBODY_ELSE = `PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ${TOUCH}`;
