// Recovery of a hub: after a restart, a lost index, damaged files, a failing disk and power loss.
import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as sqlite from 'node:sqlite';
import { beforeEach, expect, test } from 'vitest';
import { setDisposableTracker } from '../../../src/base/disposable.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { openInMemory } from '../../support/hub/inMemoryHub.ts';
import { FaultyFileSystem } from '../../support/log/faultyFileSystem.ts';
import { runs } from '../../support/runs.ts';
import { type Answer, type TestHub, withHub } from '../../support/testHub.ts';

async function fill(hub: TestHub): Promise<void> {
  const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
  const { message_id: id } = await author.call('message.send', { content: 'one', client_id: 'c1' });
  await reader.call('message.send', { content: 'two', reply_to: id });
  await author.call('message.edit', { message_id: id, content: 'one, edited' });
  const { message_id: gone } = await reader.call('message.send', { content: 'three' });
  await reader.call('message.delete', { message_id: gone });
  await reader.call('message.markRead', { message_ids: [id] });
}

async function everything(hub: TestHub): Promise<Answer> {
  const reader = await hub.agent('reader');
  const found = { messages: await reader.call('message.list'), threads: await reader.call('thread.list') };
  reader.close();
  await reader.closed;
  const { messages, ...page } = found.messages as { messages: object[]; after: string };
  // The cursor is left out, because each session start advances the last arrival number.
  return { messages, threads: (found.threads as { threads: unknown }).threads, unread: (page as Answer)['unread'] };
}

test.each([
  ['deleted', (path: string) => rm(path)],
  ['truncated', (path: string) => truncate(path, 4096)],
  ['filled with garbage', (path: string) => writeFile(path, 'this is no database'.repeat(1000))],
  [
    'of another version',
    async (path: string) => {
      const database = new sqlite.DatabaseSync(path);
      database.exec("UPDATE meta SET value = 99 WHERE name = 'layout'");
      database.close();
    },
  ],
])('an index that was %s is rebuilt with the same content and cursors', (_, spoil) =>
  withHub(async (hub) => {
    await fill(hub);
    await hub.restart();
    const before = await everything(hub);
    await hub.stop();
    const path = join(hub.folder, 'index.db');
    for (const suffix of ['-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
    await spoil(path);
    await hub.restart();
    expect(await everything(hub)).toEqual(before);
  }),
);

test('an index that is behind the files catches up', () =>
  withHub(async (hub) => {
    await fill(hub);
    await hub.stop();
    const path = join(hub.folder, 'index.db');
    const old = await readFile(path);
    await hub.restart();
    await (await hub.agent('author')).call('message.send', { content: 'later' });
    const before = await everything(hub);
    await hub.stop();
    for (const suffix of ['-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
    await writeFile(path, old);
    await hub.restart();
    expect(await everything(hub)).toEqual(before);
  }));

test('a start reads only what was written after the previous start, and has the same agents, sessions and subscriptions', () =>
  withHub(async (hub) => {
    const [reader, gone] = [await hub.agent('reader', { role: 'tester' }), await hub.agent('gone')];
    for (const params of [{ scope: { type: 'file', value: 'a.ts' } }, { mention_role: 'tester' }, { all: true }])
      await reader.call('subscribe', params);
    // The newest subscription is removed; its id must not be used again.
    await reader.call('unsubscribe', { subscription_id: 3 });
    await gone.call('agent.unregister', { agent_id: 'gone' });
    const { session_id: session } = await reader.call('agent.whoami');
    const subscribed = await reader.call('subscriptions.list');
    await hub.stop();
    const file = join(hub.folder, 'hub.jsonl');
    const lines = await readFile(file);
    // Lines that were read before are not read again, so damage there is not noticed.
    await writeFile(
      file,
      lines.map((byte) => (byte === 0x0a ? byte : 0x20)),
    );
    await hub.restart();
    const again = await hub.unix();
    await again.call('session.attach', { session_id: session });
    expect(await again.call('subscriptions.list')).toEqual(subscribed);
    expect((await again.call('agent.list'))['agents']).toMatchObject([{ agent_id: 'reader', role: 'tester' }]);
    expect(await again.call('subscribe', { all: true })).toMatchObject({ subscription_id: 4 });
    expect(hub.reports).toEqual([]);
    // Without the index, the whole file is read and the damage is reported.
    await hub.stop();
    for (const suffix of ['', '-wal', '-shm']) await rm(join(hub.folder, `index.db${suffix}`), { force: true });
    await hub.restart();
    expect(hub.reports.join()).toContain('hub.jsonl');
  }));

test.runIf(runs(0, 1) === 1)('a hub of 150,000 lines opens', () =>
  withHub(async (hub) => {
    await hub.agent('author');
    await hub.stop();
    const file = join(hub.folder, 'hub.jsonl');
    const mark = { v: 1, n: 9, event_id: 'e', timestamp: '2026-01-01T00:00:00Z', type: 'read.mark' };
    const line = JSON.stringify({ ...mark, agent_id: 'author', message_ids: [] });
    await appendFile(file, `${line}\n`.repeat(150_000));
    await hub.restart();
    expect((await (await hub.agent('author')).call('health'))['agents']).toBe(1);
  }),
);

test('a torn line is cut off and kept in a separate file; damaged lines are skipped and reported', () =>
  withHub(async (hub) => {
    await fill(hub);
    await hub.stop();
    const file = join(hub.folder, 'messages', 'author.jsonl');
    await appendFile(file, 'no json\n{"v":1}\n{"v":1,"n":99,"type":"message.cr');
    await rm(join(hub.folder, 'index.db'));
    await hub.restart();
    const author = await hub.agent('author');
    await author.call('message.send', { content: 'after the damage' });
    await hub.restart();
    expect(JSON.stringify(await everything(hub))).toContain('after the damage');
    expect(hub.reports.filter((line) => line.includes('2 lines are damaged'))).not.toEqual([]);
    expect(await readFile(`${file}.torn`, 'utf8')).toBe('{"v":1,"n":99,"type":"message.cr');
  }));

test('a failing disk fails the send and stores none of the message; later sends succeed', async () => {
  let failing = false;
  const files: typeof realFileSystem = {
    ...realFileSystem,
    openForAppend: async (path) => {
      const file = await realFileSystem.openForAppend(path);
      return {
        ...file,
        append: async (bytes) => {
          if (failing) {
            await file.append(bytes.subarray(0, 10));
            throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
          }
          return file.append(bytes);
        },
      };
    },
  };
  await withHub(
    async (hub) => {
      const [author, reader] = [await hub.agent('author'), await hub.agent('reader')];
      await reader.call('subscribe', { all: true });
      failing = true;
      await expect(author.call('message.send', { content: 'lost' })).rejects.toMatchObject({
        code: -32000,
        message: expect.stringContaining('no space left') as string,
      });
      await expect(reader.call('subscribe', { mention_role: 'x' })).rejects.toMatchObject({ code: -32000 });
      expect((await reader.call('subscriptions.list'))['subscriptions']).toHaveLength(1);
      failing = false;
      await author.call('message.send', { content: 'kept' });
      await reader.pushed('notification.message');
      await hub.restart();
      const again = await hub.agent('reader');
      const { messages } = await again.call('message.list');
      expect(messages).toMatchObject([{ body: { content: 'kept' } }]);
      expect(hub.reports).toEqual([]);
    },
    { files },
  );
});

async function scenario(files: FaultyFileSystem, acknowledged: string[]): Promise<void> {
  const { call } = await openInMemory(files);
  await call('agent.register', { name: 'author' });
  await call('session.start', { agent_id: 'author' });
  const send = async (content: string) => {
    const answer = await call('message.send', { content });
    acknowledged.push(content);
    return answer;
  };
  await Promise.all([send('one'), send('two'), send('three')]);
  const { message_id: id } = await send('four');
  await call('message.edit', { message_id: id, content: 'four, edited' });
  acknowledged.splice(acknowledged.indexOf('four'), 1, 'four, edited');
  await send('five');
}

async function runUntil(point: number): Promise<{ files: FaultyFileSystem; acknowledged: string[] }> {
  const files = new FaultyFileSystem();
  files.faults.at = ({ number }) => (number === point ? 'stop' : undefined);
  const acknowledged: string[] = [];
  let ended = false;
  const run = scenario(files, acknowledged).finally(() => {
    ended = true;
  });
  const stopped = async () => {
    while (!files.stopped && !ended) await new Promise((resolve) => setImmediate(resolve));
  };
  await Promise.race([run, stopped()]);
  return { files, acknowledged: [...acknowledged] };
}

// A program that loses power cannot dispose of anything, so leaks are not tracked.
beforeEach(() => setDisposableTracker(undefined));

test.each([
  ['nothing', () => 0],
  ['everything', (most: number) => most],
  ['half', (most: number) => Math.floor(most / 2)],
])(
  'after a power loss at any point, with %s of the unsynced bytes kept, acknowledged messages are listed once',
  async (_, choose) => {
    const { points } = (await runUntil(Number.POSITIVE_INFINITY)).files;
    expect(points.length).toBeGreaterThan(25);
    for (const point of points) {
      const { files, acknowledged } = await runUntil(point.number);
      const { hub, call } = await openInMemory(files.losePower(choose));
      await call('agent.register', { name: 'reader' });
      await call('session.start', { agent_id: 'reader' });
      const { messages } = await call('message.list');
      const listed = (messages as { body: { content: string } }[]).map(({ body }) => body.content);
      const where = `${point.number} ${point.name}`;
      const final = listed.map((content) =>
        acknowledged.includes('four, edited') || content !== 'four, edited' ? content : 'four',
      );
      expect([where, acknowledged.filter((content) => final.filter((one) => one === content).length !== 1)]).toEqual([
        where,
        [],
      ]);
      await call('message.send', { content: 'it goes on' });
      await hub.close();
    }
  },
);
