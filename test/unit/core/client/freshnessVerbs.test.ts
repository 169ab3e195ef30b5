// The verbs about what the model knows of files, with the local and the remote client.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

describe.each(KINDS)('%s', (kind) => {
  test('the files that the model knows are compared with the disk; what was not reported is queued by an update', async () => {
    const { world, client } = await createClientWorld(kind, {
      answers: [write('w'), end, end, end],
      settings: { 'approvals.mode': 'all', 'notifications.producers': { files: false } },
    });
    const { conversation } = unwrap(await client.call('create', {}));
    await world.turn(conversation);
    const list = async () => unwrap(await client.call('read_freshness', { conversation })).data;
    const { hash } = world.headless.ports.snapshots;
    const tea = hash(Buffer.from('Tea.\n'));
    expect(await list()).toMatchObject([{ path: 'menu.txt', state: 'current', seen: tea, now: tea }]);
    await writeFile(join(world.headless.folder, 'menu.txt'), 'Coffee.\n');
    const differs = { state: 'unreported', notified: 'no', now: hash(Buffer.from('Coffee.\n')), updatable: true };
    expect(await list()).toMatchObject([differs]);
    const others = await client.call('update_files', { conversation, paths: ['other.txt'] });
    expect(unwrap(others)).toEqual({ done: [], stayed: [] });
    expect(unwrap(await client.call('update_files', { conversation }))).toEqual({ done: ['menu.txt'], stayed: [] });
    expect(await list()).toMatchObject([{ state: 'pending', notified: 'pending' }]);
    await world.turn(conversation);
    expect(JSON.stringify(world.model.requests.at(-1))).toContain('-Tea.\\n+Coffee.');
    expect(await list()).toMatchObject([{ state: 'reported', seen: differs.now }]);
    await rm(join(world.headless.folder, 'menu.txt'));
    expect(await list()).toMatchObject([{ state: 'deleted', notified: 'no', updatable: true }]);
    unwrap(await client.call('update_files', { conversation, paths: ['menu.txt'] }));
    expect(await list()).toMatchObject([{ state: 'deleted', notified: 'pending' }]);
    expect(await client.call('read_freshness', { conversation: 'none' })).toMatchObject({ ok: false });
  });

  test('an update of a kind that the settings turn off is refused with the reason', async () => {
    const { world, client } = await createClientWorld(kind, {
      answers: [write('w'), end],
      settings: { 'approvals.mode': 'all', 'notifications.kinds': { file: { changed: false } } },
    });
    const { conversation } = unwrap(await client.call('create', {}));
    await world.turn(conversation);
    await writeFile(join(world.headless.folder, 'menu.txt'), 'Coffee.\n');
    const { done, stayed } = unwrap(await client.call('update_files', { conversation }));
    expect(done).toEqual([]);
    expect(stayed).toMatchObject([{ path: 'menu.txt', reason: expect.stringContaining('file.changed') as string }]);
  });
});
