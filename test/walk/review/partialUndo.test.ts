// An undo of which the disk refuses a part: the log names exactly what was changed, and the rest can be undone later.
import { chmod, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failed } from '../../../src/base/errors.ts';
import { revertDecision, planRestore, type RestoreDeps, restore } from '../../../src/core/checkpoints/restore.ts';
import { Review } from '../../../src/core/checkpoints/review.ts';
import { eventsOf } from '../../support/walk/handleWalks.ts';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { beginWalk } from '../../support/walk/walking.ts';

const REFUSED = 'The disk is full.';

/** The command appends to a file, replaces one by a link, and clears the executable bit of a changed one. */
async function begin(command = 'echo agent >> a.txt; ln -sf other l.txt; echo new > both.sh; chmod -x both.sh') {
  const run = { calls: [{ id: 'c', name: 'run_command', arguments: { command } }] };
  const walked = await beginWalk([run, { text: ['Done.'] }], { checkpoints: true });
  const { folder } = walked.headless;
  const made = reviewing(walked);
  for (const name of ['a.txt', 'l.txt', 'both.sh']) await made.put(name, `${name}\n`);
  await chmod(join(folder, 'both.sh'), 0o755);
  await walked.go();
  const { entries } = made.deps;
  if (entries === undefined) throw new Error('there is a disk');
  /** Links and executable bits cannot be written. */
  const refusing: RestoreDeps = {
    ...made.deps,
    entries: { ...entries, replace: async () => failed('stale', REFUSED) },
  };
  const reviewed = () => eventsOf(walked, 'changes_reviewed');
  const isProgram = async () => ((await stat(join(folder, 'both.sh'))).mode & 0o100) !== 0;
  return { walked, folder, refusing, reviewed, isProgram, ...made };
}

test('undo records the files that were changed and names those that were not, which can be undone later', async () => {
  const { walked, folder, refusing, reviewed, isProgram, review, text, deps } = await begin();
  const { done, stayed } = await value(new Review(refusing).undo());
  expect([...done].sort()).toEqual(['a.txt', 'both.sh']);
  expect(stayed).toEqual([
    { path: 'both.sh', reason: REFUSED },
    { path: 'l.txt', reason: REFUSED },
  ]);
  expect([await text('a.txt'), await text('both.sh')]).toEqual(['a.txt\n', 'both.sh\n']);
  expect(await readlink(join(folder, 'l.txt'))).toBe('other');
  expect(await isProgram()).toBe(false);
  const [event] = await reviewed();
  expect(event?.files.map(({ path }) => path).sort()).toEqual(['a.txt', 'both.sh']);
  // The bytes were restored, the executable bit was not.
  expect(event?.files.find(({ path }) => path === 'both.sh')).not.toHaveProperty('after_kind');
  expect((await review.files()).map(({ path }) => path)).toEqual(['l.txt']);
  expect(await value(review.undo())).toEqual({ done: ['l.txt'], stayed: [] });
  expect(await text('l.txt')).toBe('l.txt\n');
  const notices = walked.log.state.transcript.items.filter(({ type }) => type === 'notice');
  await value(revertDecision(deps, notices[0]?.id ?? ''));
  expect([await text('a.txt'), await text('both.sh')]).toEqual(['a.txt\nagent\n', 'new\n']);
});

test('restoring records the files that were changed and names those that were not', async () => {
  const { walked, refusing, reviewed, text } = await begin();
  const plan = await value(planRestore(refusing, walked.log.state.changes.turns[0]?.request ?? ''));
  const { done, stayed } = await value(restore(refusing, plan, plan.entries));
  expect([...done].sort()).toEqual(['a.txt', 'both.sh']);
  expect(stayed.map(({ path }) => path).sort()).toEqual(['both.sh', 'l.txt']);
  expect(await text('a.txt')).toBe('a.txt\n');
  expect((await reviewed())[0]?.files.map(({ path }) => path).sort()).toEqual(['a.txt', 'both.sh']);
});

test('an undo that changes nothing fails and is not recorded', async () => {
  const { refusing, reviewed } = await begin('ln -sf other l.txt');
  const undone = await new Review(refusing).undo();
  expect(!undone.ok && undone.failure.message).toBe(REFUSED);
  expect(await reviewed()).toEqual([]);
});

test('an undo of a file below unsaved changes that the disk refuses is named; the others are recorded', async () => {
  const { walked, deps, reviewed, text } = await begin('echo agent >> a.txt; echo agent >> l.txt');
  const { workspace, snapshots } = deps;
  const beneath = new TextEncoder().encode('l.txt\nagent\n');
  const refusing: RestoreDeps = {
    ...deps,
    snapshots,
    // The editor has unsaved changes of l.txt.
    workspace: {
      ...workspace,
      folders: workspace.folders,
      resolve: (path) => workspace.resolve(path),
      apply: (edits, options) => workspace.apply(edits, options),
      readLocally: async (file) => {
        const read = await workspace.readLocally(file);
        if (!read.ok || file.path !== 'l.txt') return read;
        return { ok: true, value: { ...read.value, bytes: new TextEncoder().encode('unsaved\n'), unsaved: true } };
      },
    },
    buffers: {
      readBeneath: async () => beneath,
      writeBeneath: async () => failed('stale', REFUSED),
      onDidSave: () => ({ dispose: () => undefined }),
    },
  };
  const { done, stayed } = await value(new Review(refusing).undo());
  expect([done, stayed]).toEqual([['a.txt'], [{ path: 'l.txt', reason: REFUSED }]]);
  expect([await text('a.txt'), await text('l.txt')]).toEqual(['a.txt\n', 'l.txt\nagent\n']);
  expect((await reviewed()).flatMap(({ files }) => files.map(({ path }) => path))).toEqual(['a.txt']);
  expect(walked.headless.errors).toEqual([]);
});
