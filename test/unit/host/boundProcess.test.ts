// Bound processes: they end with the process that started them.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { listProcesses } from '../../host/processes/processTree.mjs';

test.skipIf(process.platform === 'win32')('killing a process ends its bound children and grandchildren', async () => {
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', parentScript]);
  const pids = await new Promise<number[]>((resolve) => {
    createInterface({ input: parent.stdout }).once('line', (line) => resolve(JSON.parse(line) as number[]));
  });
  expect(await running(pids)).toEqual(pids);
  parent.kill('SIGKILL');
  await expect.poll(() => running(pids)).toEqual([]);
});

const runCommand = pathToFileURL(join(import.meta.dirname, '../../host/processes/runCommand.mjs')).href;

/** Starts a bound program that forks another, and prints both pids. */
const parentScript = `
  import { spawnNode } from ${JSON.stringify(runCommand)};
  const stay = 'setInterval(() => {}, 1000);';
  const program = "const { spawn } = require('node:child_process');" +
    "const child = spawn(process.execPath, [...process.execArgv.slice(0, 2), '--eval', " + JSON.stringify(stay) + "]);" +
    "console.log(JSON.stringify([process.pid, child.pid]));" + stay;
  spawnNode(process.execPath, ['--eval', program], { output: 'inherit' });
`;

async function running(pids: readonly number[]): Promise<number[]> {
  const alive = new Set((await listProcesses()).map(({ pid }) => pid));
  return pids.filter((pid) => alive.has(pid));
}
