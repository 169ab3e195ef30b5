// The verbs about what became of notifications, with the local and the remote client.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Result } from '../../../../src/base/errors.ts';
import { createClientWorld, KINDS } from '../../../support/plugins/clients.ts';

const write = (id: string) => ({
  calls: [{ id, name: 'write_file', arguments: { path: 'menu.txt', content: 'Tea.\n' } }],
});
const end = { text: ['Done.'] };

function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
}

test.each(KINDS)(
  '%s: what was delivered is counted in one conversation and in all, also after it went on',
  async (kind) => {
    const { world, client } = await createClientWorld(kind, {
      answers: [write('w'), end, { text: ['I saw menu.txt.'] }, { text: ['Yes.'] }],
      settings: { 'approvals.mode': 'all', 'notifications.producers': { files: false } },
    });
    const { conversation } = unwrap(await client.call('create', {}));
    const use = async (of?: string) =>
      unwrap(await client.call('read_notification_use', of === undefined ? {} : { conversation: of }));
    await world.turn(conversation);
    expect(await use(conversation)).toEqual({ conversations: 1, data: [] });
    await writeFile(join(world.headless.folder, 'menu.txt'), 'Coffee.\n');
    unwrap(await client.call('update_files', { conversation }));
    // Not delivered yet.
    expect((await use(conversation)).data).toEqual([]);
    await world.turn(conversation);
    const changed = { source: 'file', name: 'changed', delivered: 1, followed: 1, used: 1, answered: 1, refused: 0 };
    expect((await use(conversation)).data).toMatchObject([changed]);
    await client.call('create', {});
    expect(await use()).toMatchObject({ conversations: 2, data: [changed] });
    expect(await client.call('read_notification_use', { conversation: 'none' })).toMatchObject({ ok: false });
  },
);

test.each(KINDS)('%s: the timeline has what happened, and then only what is new', async (kind) => {
  const { world, client } = await createClientWorld(kind, {
    answers: [write('w'), end, end],
    settings: { 'approvals.mode': 'all', 'notifications.producers': { files: false } },
  });
  const { conversation } = unwrap(await client.call('create', {}));
  await world.turn(conversation);
  const first = unwrap(await client.call('read_timeline', { conversation }));
  expect(first.more).toBe(false);
  expect(first.data.map(({ lane, type }) => `${lane} ${type}`).sort()).toEqual([
    'agent call',
    'agent cycle',
    'agent cycle',
    'you message',
  ]);
  const after = first.through;
  expect(unwrap(await client.call('read_timeline', { conversation, after }))).toEqual({ ...first, data: [] });
  await writeFile(join(world.headless.folder, 'menu.txt'), 'Coffee.\n');
  unwrap(await client.call('update_files', { conversation }));
  await world.turn(conversation);
  const { data } = unwrap(await client.call('read_timeline', { conversation, after }));
  const change = data.find(({ label }) => label === 'File changed');
  expect(data.find(({ id }) => id === change?.carrier)).toMatchObject({ type: 'cycle' });
  expect(data.filter(({ type }) => type === 'call')).toEqual([]);
});
