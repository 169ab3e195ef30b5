// Renames over a file that another program has open, by argument; `test/windows/paths.test.ts` has the real ones.
import { expect, test } from 'vitest';
import { renameFile } from '../../../../src/node/files/renameFile.ts';
import { platformFor } from '../../../../src/node/platform/platform.ts';

/** A disk that answers with these failures, one after the other, and then renames. */
function disk(system: NodeJS.Platform, failures: readonly string[]) {
  const left = [...failures];
  const waits: number[] = [];
  const deps = {
    disk: platformFor(system).disk,
    rename: async () => {
      const code = left.shift();
      if (code !== undefined) throw Object.assign(new Error(code), { code });
    },
    wait: async (milliseconds: number) => void waits.push(milliseconds),
  };
  return {
    waits,
    done: renameFile('a', 'b', deps).then(
      () => 'renamed',
      (error: unknown) => (error as Error).message,
    ),
  };
}

test('on Windows a file that is in use is waited for, a second or so in all', async () => {
  const used = disk('win32', ['EPERM', 'EBUSY', 'EACCES']);
  expect([await used.done, used.waits.length]).toEqual(['renamed', 3]);
  const open = disk(
    'win32',
    Array.from({ length: 100 }, () => 'EPERM'),
  );
  expect(await open.done).toBe('EPERM');
  expect(open.waits.reduce((sum, one) => sum + one, 0)).toBeLessThan(1500);
});

test('other failures, and other systems, are not waited for', async () => {
  for (const [system, code] of [
    ['win32', 'ENOENT'],
    ['win32', 'ENOSPC'],
    ['linux', 'EPERM'],
    ['darwin', 'EPERM'],
  ] as const) {
    const failing = disk(system, [code]);
    expect([await failing.done, failing.waits]).toEqual([code, []]);
  }
});
