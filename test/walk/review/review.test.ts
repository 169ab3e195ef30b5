// Review of changes: keep, undo and restore by file and part; the user's later edits stay.
import { expect, test } from 'vitest';
import { succeeded } from '../../../src/base/errors.ts';
import { revertDecision, isChosen, planRestore, restore } from '../../../src/core/checkpoints/restore.ts';
import { type Checkpoints } from '../../../src/core/ports/storage.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { beginWalk } from '../../support/walk/walking.ts';

let calls = 0;
/** A turn that runs one command. */
const run = (command: string): ScriptedAnswer[] => [
  { calls: [{ id: `c${calls++}`, name: 'run_command', arguments: { command } }] },
  { text: ['Done.'] },
];
const NUMBERS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', ''].join('\n');

async function begin(...commands: string[]) {
  const walked = await beginWalk(commands.flatMap(run), { checkpoints: true });
  return { walked, ...reviewing(walked) };
}

test('changed files are listed with counts and their state without the agent; a file that ended unchanged is not listed', async () => {
  const { walked, review, put, text } = await begin(
    "sed -i 's/^2$/two/;s/^8$/eight/' n.txt; echo new > new.txt; rm gone.txt; echo x > same.txt",
    'echo old > same.txt',
  );
  await put('n.txt', NUMBERS);
  await put('gone.txt', 'a\nb\n');
  await put('same.txt', 'old\n');
  await walked.go();
  await walked.go('Again.');
  const files = await review.files();
  expect(
    files.map(({ path, kind, added, removed, clash, hunks }) => [path, kind, added, removed, clash, hunks?.length]),
  ).toEqual(
    expect.arrayContaining([
      ['n.txt', 'changed', 2, 2, false, 2],
      ['new.txt', 'created', 1, 0, false, 1],
      ['gone.txt', 'deleted', 0, 2, false, 1],
    ]),
  );
  expect(files).toHaveLength(3);
  // The user edits another line, which is not a change of the agent.
  await put('n.txt', (await text('n.txt'))?.replace('5\n', 'five, mine\n') ?? '');
  expect(Buffer.from((await review.base('n.txt'))?.bytes ?? []).toString()).toBe(
    NUMBERS.replace('5\n', 'five, mine\n'),
  );
  expect(await review.file('n.txt')).toMatchObject({ added: 2, removed: 2, clash: false });
});

test('kept files leave the list; undone ones are restored with the user’s edits; both survive a restart', async () => {
  const { walked, review, put, text } = await begin('echo agent >> a.txt; echo agent >> b.txt; echo new > c.txt');
  await put('a.txt', '1\n2\n3\n');
  await put('b.txt', '1\n2\n3\n');
  await walked.go();
  expect(await review.base('c.txt')).toEqual({});
  expect(await value(review.keep(['a.txt']))).toEqual({ done: ['a.txt'], stayed: [] });
  expect(await review.base('a.txt')).toBeUndefined();
  await put('b.txt', 'mine\n1\n2\n3\nagent\n');
  expect(await value(review.undo())).toEqual({ done: ['b.txt', 'c.txt'], stayed: [] });
  expect([await text('a.txt'), await text('b.txt'), await text('c.txt')]).toEqual([
    '1\n2\n3\nagent\n',
    'mine\n1\n2\n3\n',
    undefined,
  ]);
  expect(await review.files()).toEqual([]);

  const again = await walked.headless.restart();
  await again.earshot.open(walked.id);
  const after = reviewing({ headless: again, id: walked.id });
  expect(await after.review.files()).toEqual([]);
  const notices =
    again.earshot.get(walked.id)?.log.state.transcript.items.filter(({ type }) => type === 'notice') ?? [];
  expect(notices).toMatchObject([
    { text: 'You undid changes in b.txt, c.txt.', action: { message: { type: 'revert' } } },
  ]);
  const [notice] = notices;
  expect(await value(revertDecision(after.deps, notice?.id ?? ''))).toEqual({ done: ['b.txt', 'c.txt'], stayed: [] });
  expect([await after.text('b.txt'), await after.text('c.txt')]).toEqual(['mine\n1\n2\n3\nagent\n', 'new\n']);
  expect((await after.review.files()).map(({ path }) => path)).toEqual(['b.txt', 'c.txt']);
  const twice = await revertDecision(after.deps, notice?.id ?? '');
  expect(!twice.ok && twice.failure.message).toBe('That was reverted already.');
  await again.end();
});

test('one part is kept and another undone; a decision about an outdated state is refused', async () => {
  const { walked, review, put, text } = await begin("sed -i 's/^2$/two/;s/^5$/five/;s/^8$/eight/' n.txt");
  await put('n.txt', NUMBERS);
  await walked.go();
  const first = await review.file('n.txt');
  expect(first?.hunks?.map(({ start }) => start)).toEqual([1, 4, 7]);
  await value(review.keepHunk('n.txt', first?.version ?? '', 1));
  const refused = await review.undoHunk('n.txt', first?.version ?? '', 0);
  expect(!refused.ok && refused.failure).toMatchObject({ code: 'moved_on', message: 'n.txt has changed since.' });
  const second = await review.file('n.txt');
  expect(second?.hunks?.map(({ start }) => start)).toEqual([1, 7]);
  await value(review.undoHunk('n.txt', second?.version ?? '', 0));
  expect(await text('n.txt')).toBe(NUMBERS.replace('5', 'five').replace('8', 'eight'));
  const third = await review.file('n.txt');
  expect(third?.hunks).toMatchObject([{ start: 7, removed: ['8\n'], added: ['eight\n'] }]);
  // Undoing the last part completes the file.
  await value(review.undoHunk('n.txt', third?.version ?? '', 0));
  expect(await text('n.txt')).toBe(NUMBERS.replace('5', 'five'));
  expect(await review.files()).toEqual([]);
});

test('on a conflict the user’s bytes stay and the file is named; the others are undone', async () => {
  const { walked, review, put, text } = await begin('echo agent > a.txt; echo agent > b.txt; echo agent > new.txt');
  await put('a.txt', 'old\n');
  await put('b.txt', 'old\n');
  await walked.go();
  await put('a.txt', 'mine\n');
  await put('new.txt', 'mine too\n');
  expect(await review.file('a.txt')).toMatchObject({ clash: true });
  const { done, stayed } = await value(review.undo());
  expect(done).toEqual(['b.txt']);
  expect(stayed.map(({ path }) => path)).toEqual(['a.txt', 'new.txt']);
  expect([await text('a.txt'), await text('b.txt'), await text('new.txt')]).toEqual(['mine\n', 'old\n', 'mine too\n']);
  expect((await review.files()).map(({ path }) => path)).toEqual(['a.txt', 'new.txt']);
});

test('restoring to before a turn shows a plan, keeps the user’s edits, and can be reverted', async () => {
  const { walked, review, deps, put, text, remove } = await begin(
    'echo one > first.txt',
    "sed -i 's/^2$/two/' n.txt; echo agent > clash.txt; rm gone.txt; echo new > new.txt",
    "sed -i 's/^8$/eight/' n.txt; mv moved.txt there.txt",
  );
  await put('n.txt', NUMBERS);
  for (const name of ['clash', 'gone', 'moved', 'other']) await put(`${name}.txt`, `${name}\n`);
  await walked.go('First.');
  await walked.go('Second.');
  await put('n.txt', (await text('n.txt'))?.replace('5\n', 'five, mine\n') ?? '');
  await value(review.keep(['new.txt']));
  await walked.go('Third.');
  await put('clash.txt', 'mine\n');
  await put('other.txt', 'mine\n');
  await remove('first.txt');

  const [, second] = walked.log.state.changes.turns;
  const plan = await value(planRestore(deps, second?.request ?? ''));
  expect(plan.turn.title).toBe('Second.');
  expect(plan.entries.map(({ path, outcome, by }) => `${path} ${outcome} ${by}`).sort()).toEqual([
    'clash.txt clash agent',
    'first.txt created others',
    'gone.txt created agent',
    'moved.txt created agent',
    'n.txt merged agent',
    'new.txt deleted agent',
    'other.txt restored others',
    'there.txt deleted agent',
  ]);
  const { done, stayed } = await value(restore(deps, plan, plan.entries.filter(isChosen)));
  expect([...done].sort()).toEqual(['gone.txt', 'moved.txt', 'n.txt', 'new.txt', 'there.txt']);
  expect(stayed.map(({ path }) => path)).toEqual(['clash.txt']);
  const state = () =>
    Promise.all(['n', 'clash', 'gone', 'new', 'moved', 'there', 'other'].map((name) => text(`${name}.txt`)));
  const restored = [
    NUMBERS.replace('5\n', 'five, mine\n'),
    'mine\n',
    'gone\n',
    undefined,
    'moved\n',
    undefined,
    'mine\n',
  ];
  expect(await state()).toEqual(restored);
  // Earlier changes remain to be reviewed; the user removed the file of the first turn.
  expect((await review.files()).map(({ path }) => path)).toEqual(['clash.txt']);

  const decision = walked.log.state.transcript.items.at(-1);
  expect(decision).toMatchObject({ type: 'notice', action: { label: 'Revert' } });
  await value(revertDecision(deps, decision?.id ?? ''));
  const eight = NUMBERS.replace('2\n', 'two\n').replace('5\n', 'five, mine\n').replace('8\n', 'eight\n');
  expect(await state()).toEqual([eight, 'mine\n', undefined, 'new\n', undefined, 'moved\n', 'mine\n']);
});

test('changes by others and conflicts are restored if the user selects them', async () => {
  const { walked, deps, put, text } = await begin('echo agent > clash.txt');
  await put('clash.txt', 'before\n');
  await put('other.txt', 'before\n');
  await walked.go();
  await put('clash.txt', 'mine\n');
  await put('other.txt', 'mine\n');
  const plan = await value(planRestore(deps, walked.log.state.changes.turns[0]?.request ?? ''));
  const { done } = await value(restore(deps, plan, plan.entries));
  expect([...done].sort()).toEqual(['clash.txt', 'other.txt']);
  expect([await text('clash.txt'), await text('other.txt')]).toEqual(['before\n', 'before\n']);
  await value(revertDecision(deps, walked.log.state.transcript.items.at(-1)?.id ?? ''));
  expect([await text('clash.txt'), await text('other.txt')]).toEqual(['mine\n', 'mine\n']);
});

test('undo and restore are refused while a turn runs', async () => {
  const { walked, review, deps, put } = await begin('echo agent > a.txt', 'echo again > a.txt');
  await put('a.txt', 'old\n');
  await walked.go();
  const { promise, resolve } = Promise.withResolvers<void>();
  walked.headless.frontend.answer = async () => {
    const refused = [
      await review.undo(),
      await planRestore(deps, walked.log.state.changes.turns[0]?.request ?? ''),
      await revertDecision(deps, 'any'),
    ];
    expect(refused.map((one) => !one.ok && one.failure.message)).toEqual(
      Array.from({ length: 3 }, () => 'The agent is still working.'),
    );
    expect((await review.keep()).ok).toBe(true);
    resolve();
    return { action: 'reject', by: 'user' };
  };
  await walked.go('Again.');
  await promise;
});

test.each(['close', 'shutDown'] as const)('%s ends a capture that takes longer than its turn', async (how) => {
  const captures: AbortSignal[] = [];
  let ended = 0;
  const checkpoints: Checkpoints = {
    take: async ({ signal }) => {
      captures.push(signal);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      ended += 1;
      throw signal.reason;
    },
    compare: async () => succeeded([]),
    changedAt: async () => new Map(),
    leftOut: async () => [],
    read: async () => new Map(),
  };
  const walked = await beginWalk([{ text: ['One.'] }, { text: ['Two.'] }], { ports: { checkpoints } });
  await walked.go();
  await walked.go('Again.');
  expect(captures.map(({ aborted }) => aborted)).toEqual([false, false]);
  await walked.headless.earshot[how](walked.id);
  expect(ended).toBe(2);
  expect(walked.headless.errors).toEqual([]);
});

test('a follower of the conversation refuses undo and touches no file', async () => {
  const { walked, put, text } = await begin('echo agent > a.txt');
  await put('a.txt', 'old\n');
  await walked.go();
  const second = await walked.headless.second();
  await second.earshot.open(walked.id);
  const follower = reviewing({ headless: second, id: walked.id });
  expect((await follower.review.files()).map(({ path }) => path)).toEqual(['a.txt']);
  const refused = await follower.review.undo();
  expect(!refused.ok && refused.failure.code).toBe('not_owner');
  expect(await text('a.txt')).toBe('agent\n');
  await second.earshot.shutDown();
});
