// What the model is notified of when the user undoes, restores and reverts changes with Earshot.
import { expect, test } from 'vitest';
import { revertDecision, isChosen, planRestore, restore } from '../../../src/core/checkpoints/restore.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { reviewing, value } from '../../support/walk/reviewing.ts';
import { beginWalk } from '../../support/walk/walking.ts';

const read = (id: string) => ({ calls: [{ id, name: 'read_file', arguments: { path: 'a.txt' } }] });
const change = { calls: [{ id: 'c', name: 'run_command', arguments: { command: 'echo agent >> a.txt' } }] };
const done = { text: ['Done.'] };
const READ = 'a.txt changed since you read it, by the user, who';
const REMOVED = ':\n 1\n 2\n-agent';

async function begin() {
  const walked = await beginWalk([read('r'), change, done, read('s'), done], {
    checkpoints: true,
    watching: true,
    ports: { clock: realClock },
  });
  const { earshot } = walked.headless;
  const reviewed = reviewing(walked);
  await reviewed.put('a.txt', '1\n2\n');
  await walked.go();
  const messages = (id = walked.id) =>
    earshot.get(id)?.log.state.pending.notifications.map(({ message, origin }) => ({ message, origin }));
  return { walked, earshot, messages, ...reviewed };
}

test('an undo is reported as the user’s, to another conversation too', async () => {
  const { earshot, review, messages } = await begin();
  const other = await value(earshot.create());
  await value(earshot.send(other.log.id, 'Read it.'));
  await earshot.settled(other.log.id);
  await value(review.undo());
  await expect
    .poll(() => messages())
    .toEqual([{ message: `${READ} undid your changes with Earshot${REMOVED}`, origin: 'editor' }]);
  await expect
    .poll(() => messages(other.log.id))
    .toEqual([
      { message: `${READ} undid changes of the conversation “A title” with Earshot${REMOVED}`, origin: 'editor' },
    ]);
});

test('a restore is reported as the user’s, and reverting it withdraws the notification', async () => {
  const { walked, deps, messages } = await begin();
  const [turn] = walked.log.state.changes.turns;
  const plan = await value(planRestore(deps, turn?.request ?? ''));
  await value(restore(deps, plan, plan.entries.filter(isChosen)));
  const restored = `${READ} restored files to their state before a turn with Earshot${REMOVED}`;
  await expect.poll(() => messages()).toEqual([{ message: restored, origin: 'editor' }]);
  const notice = walked.log.state.transcript.items.findLast(({ type }) => type === 'notice');
  await value(revertDecision(deps, notice?.id ?? ''));
  await expect.poll(() => messages()).toEqual([]);
});
