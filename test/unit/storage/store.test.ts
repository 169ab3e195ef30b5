// Conversations are listed with title and last activity, found when the workspace's storage changes, and removed completely.
import { expect, test } from 'vitest';
import { type EventDraft } from '../../../src/protocol/event.ts';
import { createStorage } from '../../../src/storage/storage.ts';
import { numbered, request, started } from '../../support/log/events.ts';
import { FaultyFileSystem } from '../../support/log/faultyFileSystem.ts';
import {
  countingIds,
  type MemoryWindow,
  memoryLocks,
  memoryWindow,
  openLog,
  pathOf,
  STORAGE,
  silentLogger,
} from '../../support/log/memoryStorage.ts';
import { createManualClock } from '../../support/manualClock.ts';

const A = '01J0000000000000000000000A';
const B = '01J0000000000000000000000B';

async function write(window: MemoryWindow, id: string, ...drafts: EventDraft[]): Promise<void> {
  const log = await openLog(window, id);
  for (const draft of drafts) await log.append(draft);
  await log.close();
}

async function listed(window: Pick<MemoryWindow, 'storage'>): Promise<unknown> {
  const list = await window.storage.store.list();
  return list.ok ? list.value.map(({ id, title, lastActivity }) => [id, title, lastActivity]) : list.failure;
}

test('the conversation written to last is listed first, with its title or the user’s first message', async () => {
  const window = memoryWindow();
  window.files.now = 1000;
  await write(window, A, started, request('Fix the\n build, please.'));
  window.files.now = 2000;
  await write(window, B, started);
  expect(await listed(window)).toEqual([
    [B, '', 2000],
    [A, 'Fix the build, please.', 1000],
  ]);
  window.files.now = 3000;
  await write(window, A, { type: 'title_set', title: 'The build' });
  expect(await listed(window)).toEqual([
    [A, 'The build', 3000],
    [B, '', 2000],
  ]);
});

test('a missing, damaged or old title file is replaced by the log’s title', async () => {
  const window = memoryWindow();
  await write(window, A, started, request('First words'), { type: 'title_set', title: 'Given' });
  window.files.poke(pathOf(A, 'title.json'), Buffer.from('{'));
  expect(await listed(window)).toEqual([[A, 'Given', 0]]);
  window.files.poke(pathOf(A, 'title.json'), Buffer.from('{"title":"Old"}'));
  await write(window, A);
  expect(await listed(window)).toEqual([[A, 'Given', 0]]);
});

test('listing does not read the logs', async () => {
  const window = memoryWindow();
  await write(window, A, started, request('Hello'));
  window.files.points.length = 0;
  await listed(window);
  expect(window.files.points.filter(({ name }) => name === 'read events.jsonl')).toEqual([]);
});

test('an id from outside never becomes a path', async () => {
  const { store } = memoryWindow().storage;
  for (const id of ['', '..', '../../etc', `${A}/x`, 'a'.repeat(26)]) {
    expect(await store.open(id)).toMatchObject({ ok: false, failure: { code: 'bad_id' } });
    expect(await store.remove(id)).toMatchObject({ ok: false, failure: { code: 'bad_id' } });
  }
});

test('a removed conversation is gone completely, even after a power loss in between', async () => {
  const window = memoryWindow();
  await write(window, A, started);
  await write(window, B, started);
  window.files.faults.at = ({ name }) => (name.startsWith('remove:before') ? 'stop' : undefined);
  void window.storage.store.remove(A).catch(() => undefined);
  while (!window.files.stopped) await new Promise((resolve) => setImmediate(resolve));
  const after = memoryWindow(window.files.losePower(() => 0));
  expect(await listed(after)).toEqual([[B, '', 0]]);
  await after.storage.cleanUp();
  expect(after.files.paths.filter((path) => path.includes(A))).toEqual([]);
});

test('an unreadable conversation is a failure with a next step', async () => {
  const window = memoryWindow();
  window.files.faults.at = () => 'EIO';
  expect(await window.storage.store.list()).toMatchObject({
    ok: false,
    failure: { code: 'storage', nextStep: expect.any(String) as unknown },
  });
  expect(await window.storage.store.open(A)).toMatchObject({ ok: false, failure: { code: 'storage' } });
});

/** A window on these folders, with the storage that the editor gives it. */
function windowOn(files: FaultyFileSystem, folder: string, workspaceFolders: string[]): MemoryWindow {
  const ids = countingIds();
  const index = { folder: '/global', workspaceFolders: () => workspaceFolders };
  const deps = { files, folder, index, clock: createManualClock(1e12), ids, logger: silentLogger, window: folder };
  return { files, ids, storage: createStorage({ ...deps, tryLock: memoryLocks() }) };
}

test('adding a folder to the workspace, which moves its storage, loses no conversation', async () => {
  const files = new FaultyFileSystem();
  const before = windowOn(files, '/storage/one', ['/src/app']);
  await before.storage.store.list();
  await write(before, A, started, request('In the app'));
  const bytes = Buffer.from('seen bytes');
  const hash = await before.storage.snapshots.put(bytes);

  const after = windowOn(files, '/storage/two', ['/src/app', '/src/lib']);
  expect(await listed(after)).toEqual([[A, 'In the app', 0]]);
  expect(await after.storage.snapshots.get(hash)).toEqual(bytes);
  // The conversation stays in its old place, and new ones are created in the new place.
  await write(after, A, { type: 'title_set', title: 'Both' });
  await write(after, B, started);
  expect(files.paths.filter((path) => path.endsWith('events.jsonl')).sort()).toEqual([
    `/storage/one/conversations/${A}/events.jsonl`,
    `/storage/two/conversations/${B}/events.jsonl`,
  ]);
  expect(await listed(windowOn(files, '/storage/one', ['/src/app']))).toHaveLength(2);
  expect(await listed(windowOn(files, '/storage/three', ['/src/other']))).toEqual([]);
});

test('a damaged index is logged and affects nothing else', async () => {
  const files = new FaultyFileSystem();
  const window = windowOn(files, '/storage/one', ['/src/app']);
  await write(window, A, started);
  for (const path of files.paths.filter((one) => one.startsWith('/global'))) files.poke(path, Buffer.from('nonsense'));
  expect(await listed(windowOn(files, '/storage/one', ['/src/app']))).toEqual([[A, '', 0]]);
});

const WEEK = 7 * 24 * 3600 * 1000;

test('old unreferenced snapshots are removed; referenced, new and touched ones stay', async () => {
  const clock = createManualClock(0);
  const window = memoryWindow(new FaultyFileSystem(), countingIds(), { clock });
  const { files, storage } = window;
  const put = (text: string) => storage.snapshots.put(Buffer.from(text));
  const named = await put('named');
  const nameless = await put('nameless');
  const touched = await put('touched');
  await files.makeFolder(pathOf(A, 'x').replace('/x', ''));
  const seen = [{ path: 'a.ts', hash: named }];
  await write(window, A, started, { type: 'chat_request', content: 'x', source: 'user', seen });
  expect(await storage.cleanUp()).toBe(0);
  clock.advance(WEEK + 1);
  files.now = clock.now();
  const fresh = await put('fresh');
  // Another window stores the same bytes again and is about to reference them.
  await memoryWindow(files, countingIds(), { clock }).storage.snapshots.put(Buffer.from('touched'));
  expect(await storage.cleanUp()).toBe(1);
  const left = await Promise.all(
    [named, nameless, touched, fresh].map(async (hash) => (await storage.snapshots.get(hash))?.toString()),
  );
  expect(left).toEqual(['named', undefined, 'touched', 'fresh']);
});

test('a corrupted snapshot counts as missing and is written again', async () => {
  const { files, storage } = memoryWindow();
  const bytes = Buffer.from('as it was');
  const hash = await storage.snapshots.put(bytes);
  files.poke(`${STORAGE}/snapshots/${hash.slice(0, 2)}/${hash}`, Buffer.from('spoilt'));
  expect(await storage.snapshots.get(hash)).toBeUndefined();
  await memoryWindow(files).storage.snapshots.put(bytes);
  expect(await storage.snapshots.get(hash)).toEqual(bytes);
});

test('a fork is written completely or not at all', async () => {
  const window = memoryWindow();
  await window.storage.store.create(A, numbered(started, request('Hello')));
  const log = await openLog(window, A);
  expect(log.state.messages.count).toBe(1);
  await log.close();
});
