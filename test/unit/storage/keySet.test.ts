// Sets of keys shared by windows: the user's decisions about MCP servers, and the file of permanent approvals.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Logger } from '../../../src/core/ports/ports.ts';
import { type AlwaysRule } from '../../../src/core/ports/storage.ts';
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

const rule = (name: string): AlwaysRule => ({
  rule: name,
  label: `calls of ${name}`,
  since: '2026-11-18T07:00:00.000Z',
});

test('rules of an earlier version hold in every conversation of the folder, with a label; those of tasks do not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'));
  const rules = ['tool:edit_file', 'words:["npm","run","a b"]', 'task:build'];
  await writeFile(join(folder, 'approvals.json'), JSON.stringify({ v: 1, rules }));
  const permissions = await open(folder);
  expect(await permissions.has('tool:edit_file', 'any')).toBe(true);
  expect(permissions.rules).toEqual([
    { rule: 'tool:edit_file', label: 'edit_file' },
    { rule: 'words:["npm","run","a b"]', label: 'npm run a b' },
  ]);
  for (const one of permissions.rules) await permissions.remove(one);
  expect((await open(folder)).rules).toEqual([]);
});

test('a rule for one conversation holds in no other, beside the same rule for the folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'));
  const permissions = await open(folder);
  const inOne = { ...rule('a'), conversation: 'one' };
  await permissions.add(inOne);
  expect([await permissions.has('a', 'one'), await permissions.has('a', 'two')]).toEqual([true, false]);
  await permissions.add(rule('a'));
  await permissions.remove(inOne);
  expect(permissions.rules).toEqual([rule('a')]);
  expect(await permissions.has('a', 'two')).toBe(true);
});

test('a rule that another window revoked does not hold any more, and both windows announce the change', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'));
  const one = await open(folder);
  await one.add(rule('a'));
  const other = await open(folder);
  const heard: string[] = [];
  const listening = [one.onDidChange(() => heard.push('one')), other.onDidChange(() => heard.push('other'))];
  await other.remove(rule('a'));
  expect(heard).toEqual(['other']);
  expect(await one.has('a', 'c')).toBe(false);
  expect(heard).toEqual(['other', 'one']);
  for (const { dispose } of listening) dispose();
});

test('a permanent approval of one window stays when another window, opened earlier, adds one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'));
  const [one, other] = [await open(folder), await open(folder)];
  await one.add(rule('a'));
  await other.add(rule('b'));
  await Promise.all([one.add(rule('c')), one.add(rule('d')), one.add(rule('d'))]);
  const next = await open(folder);
  expect(next.rules).toEqual(['a', 'b', 'c', 'd'].map(rule));
  const stored = JSON.parse(await readFile(join(folder, 'approvals.json'), 'utf8')) as { v: number; rules: string[] };
  expect(stored.v).toBe(1);
  expect(stored.rules.map((text) => JSON.parse(text) as unknown)).toEqual(next.rules);
});

test('a damaged file allows nothing, is logged, and is replaced by the next approval', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-keys-'));
  for (const damaged of ['', '{"v":1,"rules":["a"', '{"v":2,"rules":["a"]}', '{"v":1,"rules":"a"}', '[]']) {
    await writeFile(join(folder, 'approvals.json'), damaged);
    const logged: string[] = [];
    const permissions = await open(folder, logged);
    expect(await permissions.has('a', 'c')).toBe(false);
    expect(logged.join('\n')).toContain('approvals.json cannot be read');
    await permissions.add(rule('b'));
    expect(await (await open(folder)).has('b', 'c')).toBe(true);
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
