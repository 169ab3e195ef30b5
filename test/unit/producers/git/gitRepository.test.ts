// A stale lock delays reports once, but not forever.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GitRepository } from '../../../../src/producers/git/gitRepository.ts';
import { createManualClock } from '../../../support/manualClock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-git-'));
  execFileSync('git', ['init', '--quiet', folder]);
});
afterEach(() => rm(folder, { recursive: true }));

test('after a minute with a stale lock, files are reported again', async () => {
  const clock = createManualClock();
  const problems: unknown[] = [];
  const own = join(folder, '.git');
  const repository = await GitRepository.open({
    folder: { own, shared: own, tree: folder },
    clock,
    trusted: true,
    settled: async () => undefined,
    report: (error) => problems.push(error),
    broke: (error) => problems.push(error),
  });
  expect(await repository.passed()).toBe('free');
  await writeFile(join(own, 'index.lock'), '');
  let passed: string | undefined;
  const passing = repository.passed().then((answer) => (passed = answer));
  const began = clock.now();
  while (passed === undefined) {
    clock.advance(250);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await passing;
  expect(passed).toBe('free');
  expect(clock.now() - began).toBeGreaterThanOrEqual(60_000);
  // The lock is known to be stale now, so nothing waits again.
  const later = clock.now();
  const again = repository.passed();
  expect(await Promise.race([again, new Promise((resolve) => setTimeout(resolve, 5000, 'waits'))])).toBe('free');
  expect(clock.now()).toBe(later);
  repository.dispose();
  expect(problems).toEqual([]);
});
