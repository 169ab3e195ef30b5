// The steps for one system: on Windows its tests run on this very Node, and off Linux `ps` is the system's own.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runOnWindows, windowsNode } from '../../host/steps/windowsTests.ts';
import { posixEnvironment } from '../../posix/environment.ts';
import { atTestEnd } from '../../support/endings.ts';

test('on Windows the tests run on this Node without Wine: passed, failed, and skipped with their reasons', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-steps-'));
  atTestEnd(() => rm(folder, { recursive: true }));
  const tests = [
    "import { test } from 'node:test';",
    "test('good', () => undefined);",
    "test('bad', () => { throw new Error('why'); });",
    "test('later', (context) => context.skip('no junction can be made here'));",
  ];
  await writeFile(join(folder, 'x.test.mjs'), tests.join('\n'));
  const node = windowsNode('win32');
  if (node === undefined) throw new Error('there is no Node');
  expect(node.start(['a'], 'b')).toEqual({ command: process.execPath, args: ['a'] });
  const logFile = join(folder, 'log');
  expect(await runOnWindows(node, { folder, name: 'x.test', logFile })).toEqual({
    passed: 1,
    skipped: 1,
    failures: [{ title: 'test/windows/x.test.ts › bad', message: expect.stringContaining('why') as string }],
    notes: ['Skipped: test/windows/x.test.ts › later: no junction can be made here'],
  });
  await writeFile(join(folder, 'y.test.mjs'), 'throw new Error("it cannot be loaded");');
  const broken = await runOnWindows(node, { folder, name: 'y.test', logFile });
  expect(broken.failures).toEqual([
    expect.objectContaining({ message: expect.stringContaining('it cannot be loaded') as string }),
  ]);
});

test('only Linux gets a `ps` that is like the one of macOS', () => {
  expect(posixEnvironment('linux')['PATH']).toMatch(/posix.bin/);
  expect(posixEnvironment('darwin')).toEqual({ EARSHOT_PLATFORM: 'posix' });
});
