// Renaming, forking, exporting and deleting conversations, open or closed; refused while another window owns them.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Library } from '../../../src/core/library.ts';
import { createGuideModel } from '../../../src/models/guide/guide.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { createStorage, type Storage } from '../../../src/storage/storage.ts';
import { silentLogger } from '../../support/log/memoryStorage.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

let window: Headless;
let storage: Storage;
let library: Library;

beforeEach(async () => {
  window = await startHeadless({ model: createGuideModel() });
  const parts = { clock: realClock, ids: realIds, logger: silentLogger, window: 'test' };
  storage = createStorage({ files: realFileSystem, folder: window.storage, ...parts });
  library = new Library({ ...window.ports, ...storage }, window.earshot);
});

afterEach(() => window.end());

async function runTurn(): Promise<string> {
  const opened = await window.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  await window.earshot.send(id, 'list the files');
  await window.earshot.settled(id);
  return id;
}

async function titles(): Promise<string[]> {
  const listed = await storage.store.list();
  return listed.ok ? listed.value.map(({ title }) => title).sort() : [];
}

test.each(['open', 'closed'])('renames a conversation that is %s', async (how) => {
  const id = await runTurn();
  if (how === 'closed') await window.earshot.close(id);
  expect(await library.rename(id, '  Another\n name ')).toMatchObject({ ok: true });
  await window.earshot.close(id);
  expect(await titles()).toEqual(['Another name']);
  expect(await library.rename(id, ' \n ')).toMatchObject({ ok: false, failure: { code: 'no_title' } });
});

test('a fork at the end of the last cycle and its original continue independently', async () => {
  const id = await runTurn();
  const forked = await library.fork(id);
  if (!forked.ok) throw new Error(forked.failure.message);
  const fork = await window.earshot.open(forked.value);
  if (!fork.ok) throw new Error(fork.failure.message);
  const original = window.earshot.get(id)?.log.state;
  expect(fork.value.log.state.messages.all).toEqual(original?.messages.all);
  expect(fork.value.log.state.turn.key).toBe(original?.turn.key);
  await window.earshot.send(forked.value, 'list the files');
  await window.earshot.settled(forked.value);
  expect(fork.value.log.state.messages.count).toBeGreaterThan(original?.messages.count ?? 0);
  expect(await titles()).toEqual(['list the files', 'list the files (fork)']);
});

test('exports a conversation without its key', async () => {
  const id = await runTurn();
  const key = window.earshot.get(id)?.log.state.turn.key ?? '';
  for (const format of ['markdown', 'json'] as const) {
    const exported = await library.export(id, format);
    expect(exported.ok && exported.value).toContain('list the files');
    expect(exported.ok && exported.value).not.toContain(key);
  }
  expect(await library.export('01J00000000000000000000000', 'json')).toMatchObject({
    ok: false,
    failure: { code: 'no_conversation' },
  });
});

test('deletes a conversation that is open in this window', async () => {
  const id = await runTurn();
  expect(await library.remove(id)).toMatchObject({ ok: true });
  expect(await titles()).toEqual([]);
  expect(window.earshot.get(id)).toBeUndefined();
});

test('refuses to rename or delete a conversation that another window owns', async () => {
  const id = await runTurn();
  const other = await window.second();
  const elsewhere = new Library({ ...other.ports, ...storage }, other.earshot);
  expect(await elsewhere.remove(id)).toMatchObject({ ok: false, failure: { code: 'not_owner' } });
  expect(await elsewhere.rename(id, 'Mine')).toMatchObject({ ok: false, failure: { code: 'not_owner' } });
  await other.earshot.open(id);
  expect(await elsewhere.remove(id)).toMatchObject({ ok: false, failure: { code: 'not_owner' } });
  expect(await elsewhere.rename(id, 'Mine')).toMatchObject({ ok: false, failure: { code: 'not_owner' } });
  await other.earshot.shutDown();
  expect(await titles()).toEqual(['list the files']);
});
