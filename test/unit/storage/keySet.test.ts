// Sets of keys shared by windows: permanent approvals, and the user's decisions about MCP servers.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Logger } from '../../../src/core/ports/ports.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { createKeySet } from '../../../src/storage/keySet.ts';
import { createPermissions } from '../../../src/storage/permissions.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';

const open = async (folder: string, logged: string[] = []) => {
  const logger: Logger = { ...recordingLogger([]), warn: (message) => logged.push(message) };
  const permissions = createPermissions({ files: realFileSystem, folder, logger });
  await permissions.ready;
  return permissions;
};

test('a permanent approval of one window stays when another window, opened earlier, adds one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'));
  const [one, other] = [await open(folder), await open(folder)];
  await one.add('a');
  await other.add('b');
  await Promise.all([one.add('c'), one.add('d')]);
  const next = await open(folder);
  expect(['a', 'b', 'c', 'd', 'e'].filter((rule) => next.has(rule))).toEqual(['a', 'b', 'c', 'd']);
  expect(JSON.parse(await readFile(join(folder, 'approvals.json'), 'utf8'))).toEqual({
    v: 1,
    rules: ['a', 'b', 'c', 'd'],
  });
});

test('a damaged file allows nothing, is logged, and is replaced by the next approval', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'));
  for (const damaged of ['', '{"v":1,"rules":["a"', '{"v":2,"rules":["a"]}', '{"v":1,"rules":"a"}', '[]']) {
    await writeFile(join(folder, 'approvals.json'), damaged);
    const logged: string[] = [];
    const permissions = await open(folder, logged);
    expect(permissions.has('a')).toBe(false);
    expect(logged.join('\n')).toContain('approvals.json cannot be read');
    await permissions.add('b');
    expect((await open(folder)).has('b')).toBe(true);
  }
});

test('keys are found by their prefix, also in a window that was opened later', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'));
  const openKeys = () => createKeySet({ files: realFileSystem, folder, name: 'k.json', logger: recordingLogger([]) });
  const first = openKeys();
  for (const key of ['cancel:a', 'cancel:b', 'other:c']) await first.set(key, true);
  await first.set('cancel:b', false);
  const second = openKeys();
  await second.ready;
  expect(second.keys('cancel:')).toEqual(['cancel:a']);
});
