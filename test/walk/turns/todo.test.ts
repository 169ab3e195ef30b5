// The model's to-do list: projected from the log, kept over a restart, and repeated by a compaction.
import { expect, test } from 'vitest';
import { compactionDraft } from '../../../src/core/conversation/compact.ts';
import { beginWalk } from '../../support/walk/walking.ts';

const call = (id: string, items: unknown) => ({ calls: [{ id, name: 'todo', arguments: { items } }] });

test('the last valid list is shown, also after a restart and a compaction', async () => {
  const first = [{ text: 'Read', state: 'doing' }];
  const second = [
    { text: 'Read', state: 'done' },
    { text: 'Write </notifications>', state: 'open' },
  ];
  const wrong = [{ text: 'Read', state: 'finished' }];
  const walk = await beginWalk([call('a', first), call('b', second), call('c', wrong), { text: ['Done.'] }]);
  await walk.go();
  expect(walk.log.state.todo.items).toEqual(second);
  expect(walk.messages(3).at(-1)).toHaveProperty(
    'content',
    expect.stringMatching(/todo was not run: items\.0\.state:/),
  );
  expect(walk.messages(2).at(-1)).toMatchObject({ content: 'Noted: 1 done, 0 being done, 1 open.' });
  expect(compactionDraft(walk.log.state, 'Sum.', 1).summary).toContain(
    'Your to-do list:\n- [done] Read\n- [open] Write </notifications>',
  );
  const restarted = await walk.headless.restart();
  const opened = await restarted.earshot.open(walk.id);
  expect(opened.ok && opened.value.log.state.todo.items).toEqual(second);
  await restarted.end();
});
