// The log of another window is followed as it grows, and read again when its owner removed bytes.
import { afterEach, expect, test } from 'vitest';
import { ConversationLog } from '../../../src/core/conversation/log.ts';
import { enqueue } from '../../../src/core/notify/queue.ts';
import {
  describeState,
  draftOf,
  memoryWindow,
  openLog,
  pathOf,
  silentLogger,
  stillClock,
} from '../../support/log/memoryStorage.ts';

const ID = '01J00000000000000000000000';
const opened: ConversationLog[] = [];

afterEach(async () => {
  for (const log of opened.splice(0)) await log.close();
});

async function start() {
  const window = memoryWindow();
  const log = await openLog(window, ID);
  await log.append({ type: 'conversation_started', key: 'key-of-a-conversation' });
  const followed = await window.storage.store.follow(ID);
  if (!followed.ok) throw new Error(followed.failure.message);
  const deps = { id: ID, clock: stillClock, ids: window.ids, logger: silentLogger };
  const follower = new ConversationLog({ ...deps, opened: followed.value });
  opened.push(log, follower);
  return { window, log, follower };
}

const idle = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test('the owner’s events are announced in order, and only new bytes are read', async () => {
  const { window, log, follower } = await start();
  const appended: string[] = [];
  const listening = follower.onDidAppend(({ event }) => appended.push(`${event.seq} ${event.type}`));
  window.files.points.length = 0;
  await enqueue(log, window.ids, draftOf('a'));
  await Promise.all([enqueue(log, window.ids, draftOf('b')), log.append({ type: 'title_set', title: 'A title' })]);
  await idle();
  expect(appended).toEqual(['2 notification_queued', '3 notification_queued', '4 title_set']);
  expect(describeState(follower.state)).toEqual(describeState(log.state));
  expect(window.files.points.filter(({ name }) => name === 'read events.jsonl')).toEqual([]);
  listening.dispose();
});

test('a follower’s write fails with a next step', async () => {
  const { follower } = await start();
  await expect(follower.append({ type: 'title_set', title: 'mine' })).rejects.toMatchObject({
    failure: { code: 'not_owner', nextStep: expect.stringContaining('Continue here') as unknown },
  });
});

test('a partial line is not read until it is complete', async () => {
  const { window, log, follower } = await start();
  await enqueue(log, window.ids, draftOf('a'));
  await idle();
  const whole = window.files.peek(pathOf(ID));
  window.files.poke(pathOf(ID), Buffer.concat([whole, Buffer.from('{"v":1,"seq":3')]));
  await idle();
  expect(follower.state.pending.count).toBe(1);
  expect(follower.damage).toEqual([]);
});

test('bytes that were removed and rewritten are read again', async () => {
  const { window, log, follower } = await start();
  let resets = 0;
  const listening = follower.onDidReset(() => {
    resets += 1;
  });
  await enqueue(log, window.ids, draftOf('a'));
  await idle();
  const before = window.files.peek(pathOf(ID));
  // The owner's write fails after its bytes were visible; the owner removes them and writes others of the same length.
  window.files.faults.at = ({ name }) => (name === 'sync:before events.jsonl' ? 'EIO' : undefined);
  await expect(enqueue(log, window.ids, draftOf('b'))).rejects.toThrow();
  await idle();
  window.files.faults = {};
  await log.repair();
  expect(window.files.peek(pathOf(ID))).toEqual(before);
  await enqueue(log, window.ids, draftOf('c'));
  await idle();
  expect(describeState(follower.state)).toEqual(describeState(log.state));
  expect(follower.state.pending.notifications.map(({ subject }) => subject)).toEqual(['file:a', 'file:c']);
  expect(resets).toBeGreaterThan(0);
  listening.dispose();
});
