// One owner at a time across processes; the kernel releases the locks of killed processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tryKernelLock, tryPidFile } from '../../../src/node/kernelLock.ts';

const source = resolve(import.meta.dirname, '../../../src/node/kernelLock.ts');
let folder = '';
let child: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-lock-'));
});

afterEach(async () => {
  child?.kill('SIGKILL');
  child = undefined;
  await rm(folder, { recursive: true, force: true });
});

/** Starts another process that tries to lock, reports the result, and stays. */
async function holdElsewhere(name: string, path: string): Promise<string> {
  const program = `
    const { ${name} } = await import(${JSON.stringify(source)});
    const lock = ${name}(${JSON.stringify(path)});
    console.log(lock === undefined ? 'refused' : 'held');
    setInterval(() => lock, 1000);`;
  child = spawn(process.execPath, ['--input-type=module', '--no-warnings', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(child.stdout ?? process.stdin, 'data')) as [Buffer];
  return chunk.toString().trim();
}

test.each([
  ['tryKernelLock', tryKernelLock],
  ['tryPidFile', tryPidFile],
])('%s: held by one process, denied to others, free after its release or death', async (name, tryLock) => {
  const path = join(folder, 'lock.db');
  const first = tryLock(path);
  expect(first).toBeDefined();
  expect(tryLock(path)).toBeUndefined();
  expect(await holdElsewhere(name, path)).toBe('refused');
  child?.kill('SIGKILL');
  first?.release();

  expect(await holdElsewhere(name, path)).toBe('held');
  expect(tryLock(path)).toBeUndefined();
  const gone = child === undefined ? undefined : once(child, 'exit');
  child?.kill('SIGKILL');
  await gone;
  const after = tryLock(path);
  expect(after).toBeDefined();
  after?.release();
});

test('a lock that fails on disk is an error, not a held lock', () => {
  expect(() => tryKernelLock(join(folder, 'missing', 'lock.db'))).toThrow();
});

const garbage = 'this is no database, and longer than its head of a hundred bytes: '.repeat(20);

test('a lock file with any content can be locked by one process at a time', async () => {
  const path = join(folder, 'lock.db');
  await writeFile(path, garbage);
  const first = tryKernelLock(path);
  expect(first).toBeDefined();
  expect(tryKernelLock(path)).toBeUndefined();
  expect(await holdElsewhere('tryKernelLock', path)).toBe('refused');
  first?.release();
});

test('a lock file that is overwritten while held stays locked', async () => {
  const path = join(folder, 'lock.db');
  expect(await holdElsewhere('tryKernelLock', path)).toBe('held');
  await writeFile(path, garbage);
  expect(tryKernelLock(path)).toBeUndefined();
});
