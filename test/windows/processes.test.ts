// Ends whole trees on Windows: what runs below a shell, what it leaves behind, and what it was interrupted in.
import { equal, ok } from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { platform } from '../../src/node/platform/platform.ts';
import { type ProcessTree } from '../../src/node/platform/parts.ts';
import { spawnShell } from '../../src/node/processTree.ts';
import { shellProgram } from '../../src/node/shellProgram.ts';
import { isRunning, temporaryFolder, test, until } from './support.ts';

const folder = temporaryFolder();
const shell = shellProgram(process.env['ComSpec'] ?? 'cmd.exe');
const sleeper = join(folder, 'sleep.js');
writeFileSync(
  sleeper,
  "require('node:fs').writeFileSync(process.argv[2], String(process.pid)); setInterval(() => {}, 1000);",
);

/** Starts a command line in which `SLEEP name` is a program that runs until it is ended, and writes its id to `name`. */
function start(line: string) {
  const command = line.replaceAll(
    /SLEEP (\w+)/g,
    (_whole, name: string) => `"${process.execPath}" "${sleeper}" ${name}`,
  );
  const child = spawnShell({ command, shell, folder, env: process.env, input: false });
  for (const stream of [child.stdout, child.stderr]) stream?.resume();
  const tree: ProcessTree = platform.processes.tree(child, '');
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const pidOf = async (name: string) => {
    const file = join(folder, name);
    await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '');
    return Number(readFileSync(file, 'utf8'));
  };
  return { child, tree, ended, pidOf };
}

test('a tree ends with everything below its shell', async () => {
  const { tree, ended, pidOf } = start('SLEEP below');
  const pid = await pidOf('below');
  ok(await tree.isAlive());
  await tree.end(true);
  await ended;
  await until(() => !isRunning(pid));
  equal(await tree.isAlive(), false);
});

test('an interrupt ends the program, not only its shell', async () => {
  const { tree, ended, pidOf } = start('SLEEP interrupted');
  const pid = await pidOf('interrupted');
  await tree.interrupt();
  await ended;
  await until(() => !isRunning(pid));
});

test('what a command leaves behind is found after the end of its shell, and ended', async () => {
  const { tree, ended, pidOf } = start('start /b "" SLEEP left >nul 2>&1');
  const pid = await pidOf('left');
  await ended;
  ok(await tree.isAlive());
  await tree.end(true);
  await until(() => !isRunning(pid));
  equal(await tree.isAlive(), false);
});

test('a command that leaves nothing behind is known to be over without asking the system', async () => {
  const { tree, ended } = start('exit 0');
  await ended;
  await until(async () => !(await tree.isAlive()));
});

test('a process is the same only while it runs', async () => {
  const { child, tree, ended, pidOf } = start('SLEEP same');
  await pidOf('same');
  const stamp = platform.processes.stampOf(child.pid ?? 0);
  await tree.end(true);
  await ended;
  equal(await platform.processes.isRunning(child.pid ?? 0, stamp), false);
});
