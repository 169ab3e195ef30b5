// Ownership of a conversation, requests for it, and its handover between windows.
import { expect, test } from 'vitest';
import { FaultyFileSystem } from '../../support/log/faultyFileSystem.ts';
import { countingIds, memoryLocks, memoryWindow, pathOf } from '../../support/log/memoryStorage.ts';
import { createManualClock } from '../../support/manualClock.ts';

const ID = '01J00000000000000000000000';
const never = new AbortController().signal;

function twoWindows() {
  const files = new FaultyFileSystem();
  const shared = { tryLock: memoryLocks(), clock: createManualClock() };
  const ids = countingIds();
  const window = (name: string) => memoryWindow(files, ids, { ...shared, window: name }).storage.lock;
  return { files, clock: shared.clock, one: window('one'), two: window('two') };
}

test('one window owns a conversation, and the other sees which one', async () => {
  const { one, two, clock } = twoWindows();
  const held = await one.acquire(ID);
  expect(held?.handedOver).toBe(false);
  expect(await two.acquire(ID)).toBeUndefined();
  const since = new Date(clock.now()).toISOString();
  expect(await two.owner(ID)).toEqual({ pid: process.pid, window: 'one', since });
  await held?.release();
  expect(await two.owner(ID)).toBeUndefined();
  const next = await two.acquire(ID);
  expect(next?.handedOver).toBe(false);
  await next?.release();
});

test('a window that requests a conversation gets it once the owner releases it', async () => {
  const { files, one, two } = twoWindows();
  const held = await one.acquire(ID);
  const asked = Promise.withResolvers<void>();
  const listening = held?.onDidRequest(() => asked.resolve());
  const requested = two.request(ID, never);
  await asked.promise;
  await held?.release();
  const taken = await requested;
  expect(taken.handedOver).toBe(true);
  // The new owner's own request is answered and not reported to it.
  const own = taken.onDidRequest(() => expect.fail('nobody else asked'));
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  own.dispose();
  expect(files.paths.filter((path) => path.includes('request-'))).toEqual([]);
  expect((await one.owner(ID))?.window).toBe('two');
  listening?.dispose();
  await taken.release();
});

test('a request made before a listener was added is reported', async () => {
  const { one, two } = twoWindows();
  const held = await one.acquire(ID);
  const requested = two.request(ID, never);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  const asked = Promise.withResolvers<void>();
  const listening = held?.onDidRequest(() => asked.resolve());
  await asked.promise;
  listening?.dispose();
  await held?.release();
  await (await requested).release();
});

test('changes of the log in the same folder do not make the owner check its lock', async () => {
  const { files, one } = twoWindows();
  const held = await one.acquire(ID);
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  await settle();
  const log = await files.openForAppend(pathOf(ID));
  const checks = () => files.points.filter(({ name }) => name === 'stat lock.db').length;
  const before = checks();
  await log.append(new TextEncoder().encode('{}\n'));
  await settle();
  expect(checks()).toBe(before);
  await files.touch(pathOf(ID, 'owner.json'));
  await settle();
  expect(checks()).toBeGreaterThan(before);
  await log.close();
  await held?.release();
});

test('a cancelled request is withdrawn', async () => {
  const { files, one, two } = twoWindows();
  const held = await one.acquire(ID);
  const abort = new AbortController();
  const requested = two.request(ID, abort.signal);
  abort.abort(new Error('closed'));
  await expect(requested).rejects.toThrow('closed');
  expect(files.paths.filter((path) => path.includes('request-'))).toEqual([]);
  await held?.release();
});

test('an unreadable request, or one of a dead window, is ignored', async () => {
  const { files, one, clock } = twoWindows();
  const held = await one.acquire(ID);
  let asked = 0;
  const listening = held?.onDidRequest(() => {
    asked += 1;
  });
  files.poke(pathOf(ID, 'request-a.json'), Buffer.from(JSON.stringify({ pid: 2 ** 30 })));
  files.poke(pathOf(ID, 'request-b.json'), Buffer.from('not JSON'));
  clock.advance(10_000);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toBe(0);
  expect(files.paths.filter((path) => path.includes('request-'))).toEqual([]);
  listening?.dispose();
  await held?.release();
});

test('a dead owner is replaced although no file changes', async () => {
  const files = new FaultyFileSystem();
  const clock = createManualClock();
  let dead = false;
  const tryLock = memoryLocks();
  const locks = { clock, tryLock: (path: string) => (dead ? { release: () => undefined } : tryLock(path)) };
  const one = memoryWindow(files, countingIds(), { ...locks, window: 'one' }).storage.lock;
  const two = memoryWindow(files, countingIds(), { ...locks, window: 'two' }).storage.lock;
  const held = await one.acquire(ID);
  const requested = two.request(ID, never);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  dead = true;
  clock.advance(1000);
  const taken = await requested;
  expect(taken.handedOver).toBe(false);
  await taken.release();
  await held?.release();
});
