// The last output of a command: stored completely on a slow disk, and without waiting for others that keep its pipe open.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CommandOutput } from '../../../src/node/supervision/commandOutput.ts';
import { atTestEnd } from '../../support/endings.ts';

/** A disk that stores nothing until it is released. */
function slowDisk() {
  const released = Promise.withResolvers<void>();
  const stored: Uint8Array[] = [];
  const size = () => stored.reduce((sum, { length }) => sum + length, 0);
  const writer = {
    append: async (bytes: Uint8Array) => {
      await released.promise;
      stored.push(bytes);
    },
    close: async () => undefined,
    get measure() {
      return { size: size(), kept: 0 };
    },
  };
  return { writer, size, text: () => Buffer.concat(stored).toString('latin1'), release: () => released.resolve() };
}

test('output that a slow disk has kept from being read is stored completely after the end of the command', async () => {
  const disk = slowDisk();
  // More than is held in memory: the rest stays in the pipe, which has room for it if it is written in large pieces.
  const bytes = 1024 * 1024 + 150_000;
  const zeros = (size: number, count: number) => `dd if=/dev/zero bs=${size} count=${count} 2>/dev/null`;
  const command = `${zeros(65_536, 16)}; ${zeros(150_000, 1)}; printf end`;
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const output = new CommandOutput(disk.writer, () => undefined);
  output.read([child.stdout, child.stderr]);
  await exited;
  expect(child.stdout.isPaused()).toBe(true);
  const ended = output.end();
  await setTimeout(700);
  disk.release();
  await ended;
  expect(disk.size()).toBe(bytes + 3);
  expect(disk.text().endsWith('end')).toBe(true);
});

test.each([
  ['prints line by line', 'while :; do echo more; sleep 0.02; done'],
  ['prints as fast as it can', 'exec yes more'],
  ['prints nothing', 'exec sleep 600'],
])('a process that outlives the command and %s does not delay the end', async (_does, program) => {
  const disk = slowDisk();
  disk.release();
  const command = `sh -c '${program}' & echo $!; echo done`;
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  atTestEnd(async () => void process.kill(-(child.pid ?? 0), 'SIGKILL'));
  const exited = once(child, 'exit');
  const output = new CommandOutput(disk.writer, () => undefined);
  output.read([child.stdout, child.stderr]);
  await exited;
  await output.end();
  expect(disk.text()).toContain('done\n');
});
