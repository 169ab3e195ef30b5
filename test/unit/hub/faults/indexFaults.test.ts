// The hub's index fails: another process holds its lock or changes it, at the start, while sending and while reading.
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Clock } from '../../../../src/base/clock.ts';
import { realClock } from '../../../../src/node/realClock.ts';
import { EXCLUSIVE, NOBODY_ELSE, runSqlElsewhere, TOUCH } from '../../../support/hub/otherProcess.ts';
import { type Answer, type TestClient, type TestHub, withHub } from '../../../support/testHub.ts';

const start = Date.now();
/** Twenty times as fast, for locks that are never released. */
const fast: Clock = {
  now: () => start + (Date.now() - start) * 20,
  monotonic: () => realClock.monotonic() * 20,
  after: (milliseconds, run) => realClock.after(milliseconds / 20, run),
};
const pathOf = (hub: TestHub) => join(hub.folder, 'index.db');

async function contents(client: TestClient, params: object = {}): Promise<string[]> {
  const { messages } = (await client.call('message.list', params)) as { messages: { body: { content: string } }[] };
  return messages.map(({ body }) => body.content);
}

/** The lines of the author's file that store this message. */
async function storedCount(hub: TestHub, client: string): Promise<number> {
  const lines = await readFile(join(hub.folder, 'messages', 'author.jsonl'), 'utf8');
  return lines.split(`"client_id":"${client}"`).length - 1;
}

test('while another process holds the lock, known messages are listed, a repeated client_id gets its first id, and a send waits', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author');
    const first = await author.call('message.send', { content: 'one', client_id: 'c1' });
    const reader = await hub.agent('reader');
    // The same agent over a second connection, since a client's requests wait for its earlier ones.
    const twin = await hub.webSocket();
    await twin.call('session.attach', { session_id: (await author.call('agent.whoami'))['session_id'] });
    const other = await runSqlElsewhere(pathOf(hub), EXCLUSIVE);
    const sent = author.call('message.send', { content: 'two', client_id: 'c2' });
    const repeated = twin.call('message.send', { content: 'two', client_id: 'c2' });
    await expect.poll(() => storedCount(hub, 'c2')).toBe(1);
    expect(await contents(reader)).toEqual(['one']);
    expect(await twin.call('message.send', { content: 'one', client_id: 'c1' })).toEqual(first);
    expect(hub.reports).toEqual([]);
    await other.end();
    expect(await repeated).toEqual(await sent);
    expect(await contents(author)).toEqual(['one', 'two']);
    await hub.restart();
    const again = await hub.agent('author');
    expect(await again.call('message.send', { content: 'two', client_id: 'c2' })).toEqual(await sent);
    expect(await contents(again)).toEqual(['one', 'two']);
    expect(await storedCount(hub, 'c2')).toBe(1);
    expect(hub.reports).toEqual([]);
  }));

test('a lock that is not released: the index is made again in memory, and after a restart the first ids stand', () =>
  withHub(
    async (hub) => {
      const author = await hub.agent('author');
      const first = await author.call('message.send', { content: 'one', client_id: 'c1' });
      const other = await runSqlElsewhere(pathOf(hub), EXCLUSIVE);
      const second = await author.call('message.send', { content: 'two', client_id: 'c2' });
      expect(hub.reports.join()).toContain('the index is made again in memory');
      const both = [
        await author.call('message.send', { content: 'one', client_id: 'c1' }),
        await author.call('message.send', { content: 'two', client_id: 'c2' }),
      ];
      expect(both).toEqual([first, second]);
      expect(await contents(author)).toEqual(['one', 'two']);
      await other.end();
      await hub.restart();
      const again = await hub.agent('author');
      expect(await again.call('message.send', { content: 'two', client_id: 'c2' })).toEqual(second);
      expect(await contents(again)).toEqual(['one', 'two']);
    },
    { clock: fast },
  ));

test.each([
  ['for a moment', 300],
  ['without end', undefined],
])('the index is locked %s when the hub starts: it serves all messages and their client_ids', (_, milliseconds) =>
  withHub(
    async (hub) => {
      const first = await (await hub.agent('author')).call('message.send', { content: 'one', client_id: 'c1' });
      await hub.stop();
      const other = await runSqlElsewhere(pathOf(hub), NOBODY_ELSE);
      const ended = milliseconds === undefined ? undefined : wait(milliseconds).then(() => other.end());
      await hub.restart();
      const author = await hub.agent('author');
      expect(await contents(author)).toEqual(['one']);
      expect(await author.call('message.send', { content: 'one', client_id: 'c1' })).toEqual(first);
      await author.call('message.send', { content: 'two', client_id: 'c2' });
      await (ended ?? other.end());
      await hub.restart();
      expect(await contents(await hub.agent('author'))).toEqual(['one', 'two']);
      expect(await storedCount(hub, 'c1')).toBe(1);
    },
    { clock: milliseconds === undefined ? fast : realClock },
  ),
);

const harms: readonly (readonly [string, (hub: TestHub) => Promise<unknown>])[] = [
  ['a table is dropped', async (hub) => (await runSqlElsewhere(pathOf(hub), 'DROP TABLE messages')).end()],
  ['its files are deleted', (hub) => removeIndex(hub)],
  [
    'it is overwritten',
    async (hub) => {
      // A change by another process makes the hub read the pages again.
      await (await runSqlElsewhere(pathOf(hub), `${TOUCH}; PRAGMA wal_checkpoint(TRUNCATE)`)).end();
      await overwrite(pathOf(hub), 100);
    },
  ],
];

async function overwrite(path: string, from: number): Promise<void> {
  const file = await open(path, 'r+');
  const { size } = await file.stat();
  await file.write(Buffer.alloc(size - from, 0xff), 0, size - from, from);
  await file.close();
}

async function removeIndex(hub: TestHub): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(`${pathOf(hub)}${suffix}`, { force: true });
}

const uses: readonly (readonly [string, (author: TestClient, first: Answer) => Promise<unknown>])[] = [
  ['a repeated send', (author) => author.call('message.send', { content: 'one', client_id: 'c1' })],
  ['a list', (author) => author.call('message.list')],
  ['a reply', (author, { message_id: id }) => author.call('message.send', { content: 'reply', reply_to: id })],
  ['an edit', (author, { message_id: id }) => author.call('message.edit', { message_id: id, content: 'edited' })],
  ['reading marks', (author, { message_id: id }) => author.call('message.markRead', { message_ids: [id] })],
  ['a list of agents', (author) => author.call('agent.list')],
  ['a list of threads', (author) => author.call('thread.list')],
  ['health', (author) => author.call('health')],
];

test.each(harms.flatMap(([harm, spoil]) => uses.map(([use, act]) => [harm, use, spoil, act] as const)))(
  '%s while the hub runs: %s and later requests know every message, before and after a restart',
  (_, __, spoil, act) =>
    withHub(async (hub) => {
      const author = await hub.agent('author');
      const first = await author.call('message.send', { content: 'one', client_id: 'c1' });
      await author.call('message.send', { content: 'two', client_id: 'c2' });
      await spoil(hub);
      await act(author, first);
      const listed = await contents(author, { after: 'c0' });
      expect(listed.filter((content) => content !== 'reply').toSorted()).toEqual(
        listed.includes('edited') ? ['edited', 'two'] : ['one', 'two'],
      );
      expect(await author.call('message.send', { content: 'one', client_id: 'c1' })).toMatchObject({
        message_id: first['message_id'],
      });
      await hub.restart();
      expect(await contents(await hub.agent('author'), { after: 'c0' })).toEqual(listed);
      expect(await storedCount(hub, 'c1')).toBe(1);
    }),
);
