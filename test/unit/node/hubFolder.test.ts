// Where hubs and sockets are: in the same place for all programs of a user, whatever their HOME.
import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compileCache } from '../../support/compileCache.ts';

const module = resolve(import.meta.dirname, '../../../src/node/hubFolder.ts');
const script = `console.log(await (await import(${JSON.stringify(module)})).hubFolder('/'))`;

/** The folder that a program with this environment uses. */
async function folderWith(env: Readonly<Record<string, string>>): Promise<string> {
  const args = ['--no-warnings', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...compileCache, ...env } });
  return stdout.trim();
}

test('a window with a HOME of its own and an agent without one use the same folder, in the home of the account', async () => {
  const folders = await Promise.all([folderWith({ HOME: '/nowhere' }), folderWith({ HOME: '' }), folderWith({})]);
  const [first] = folders;
  expect(first.startsWith(join(userInfo().homedir, '.earshot', 'hubs'))).toBe(true);
  expect(new Set(folders).size).toBe(1);
  expect(await folderWith({ EARSHOT_HOME: '/elsewhere' })).toMatch(/^\/elsewhere\/\.earshot\/hubs\/[0-9a-f]{16}$/);
});
