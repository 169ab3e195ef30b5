// What a checkpoint leaves out is said: once in the chat, and in the plan of each restore.
import { execFileSync } from 'node:child_process';
import { truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { planRestore } from '../../../src/core/checkpoints/restore.ts';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { beginWalk } from '../../support/walk/walking.ts';

async function begin(...commands: string[]) {
  const runs = commands.map((command, index) => ({
    calls: [{ id: `c${index}`, name: 'run_command', arguments: { command } }],
  }));
  const walked = await beginWalk([...runs, { text: ['Done.'] }], { checkpoints: true });
  const { folder } = walked.headless;
  const notices = () =>
    walked.log.state.transcript.items.flatMap((item) => (item.type === 'notice' ? [item.text] : []));
  return { walked, folder, notices, ...reviewing(walked) };
}

test('a file that is too large is named once in the chat and in the plan of a restore', async () => {
  const { walked, folder, notices, deps } = await begin('echo two > a.txt', 'echo three > a.txt');
  await writeFile(join(folder, 'a.txt'), 'one\n');
  await writeFile(join(folder, 'big.bin'), '');
  await truncate(join(folder, 'big.bin'), 101 * 1024 * 1024);
  await walked.go();
  expect(notices()).toEqual(['Not captured, so changes by commands there cannot be undone: big.bin.']);
  const plan = await value(planRestore(deps, walked.log.state.changes.turns[0]?.request ?? ''));
  expect(plan.leftOut).toEqual(['big.bin']);
});

test('with a working tree above the folder in git’s configuration, an overwritten file is listed and nothing is left out', async () => {
  const { walked, folder, notices, deps, review } = await begin('echo agent > a.txt');
  execFileSync('git', ['init', '-q'], { cwd: folder });
  execFileSync('git', ['config', 'core.worktree', dirname(folder)], { cwd: folder });
  await writeFile(join(folder, 'a.txt'), 'mine\n');
  await writeFile(join(folder, 'b.txt'), 'mine\n');
  await walked.go();
  await writeFile(join(folder, 'b.txt'), 'another program\n');
  const plan = await value(planRestore(deps, walked.log.state.changes.turns[0]?.request ?? ''));
  expect(plan.entries.map(({ path, by, outcome }) => `${path} ${by} ${outcome}`)).toEqual([
    'a.txt agent restored',
    'b.txt others restored',
  ]);
  expect([plan.leftOut, plan.othersUnknown, notices()]).toEqual([[], undefined, []]);
  expect((await value(review.undo())).done).toEqual(['a.txt']);
});
