// Finding and ending process trees.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { endTree, familyOf, listProcesses } from '../../host/processes/processTree.mjs';

const unixTest = test.skipIf(process.platform === 'win32');

test('descendants are found by parent and by process group', () => {
  const row = (pid: number, parent: number, group: number) => ({ pid, parent, group, started: '' });
  const processes = [row(1, 0, 1), row(10, 1, 10), row(12, 11, 12), row(11, 10, 10), row(13, 1, 10), row(20, 1, 20)];
  const pids = familyOf(processes, 10).map(({ pid }) => pid);
  expect(pids.sort()).toEqual([10, 11, 12, 13]);
});

unixTest('ending a tree ends children in their own sessions and children that ignore SIGTERM', async () => {
  const child = spawn(process.execPath, ['--eval', grandparent], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pids = await new Promise<number[]>((resolve) => {
    createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line) as number[]));
  });
  expect(await running(pids)).toEqual(pids);

  await endTree(pids[0] ?? 0, { graceMilliseconds: 200 });
  expect(await running(pids)).toEqual([]);
});

/** Unlike signal 0, this does not count zombies as running. */
async function running(pids: readonly number[]): Promise<number[]> {
  const alive = new Set((await listProcesses()).map(({ pid }) => pid));
  return pids.filter((pid) => alive.has(pid));
}

/** Prints its pid and those of two children: one with its own session, one that ignores SIGTERM. */
const grandparent = `
  const { spawn } = require('node:child_process');
  const start = (script, detached) => spawn(process.execPath, ['--eval', script], { detached, stdio: ['ignore', 'pipe', 'inherit'] });
  const stay = 'setInterval(() => {}, 1000); console.log(1)';
  const children = [start(stay, true), start("process.on('SIGTERM', () => {});" + stay, false)];
  const ready = children.map((child) => new Promise((resolve) => child.stdout.once('data', resolve)));
  Promise.all(ready).then(() => console.log(JSON.stringify([process.pid, ...children.map(({ pid }) => pid)])));
`;
