// Failing pushes: a message is stored before any push, and a failing push never fails the send.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from 'node:sqlite';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { JsonRpcPeer } from '../../../src/base/json/jsonRpc.ts';
import { type ConnectionKind } from '../../../src/hub/connection.ts';
import { Hub } from '../../../src/hub/hub.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { realIds } from '../../../src/node/realIds.ts';
import { atTestEnd } from '../../support/endings.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { type Answer, withHub } from '../../support/testHub.ts';

interface Client {
  call(method: string, params?: object): Promise<Answer>;
  readonly pushed: string[];
  /** Makes later writes fail: at once, or later, as the kernel may report it. */
  fail: 'no' | 'at once' | 'later';
  readonly dropped: () => boolean;
}

async function openHub(files = realFileSystem): Promise<Hub> {
  const folder = await mkdtemp(join(tmpdir(), 'earshot-pushes-'));
  const hub = await Hub.open({
    files,
    folder,
    clock: createManualClock(),
    sqlite,
    version: 'test',
    ulid: () => realIds.ulid(),
    report: (message, error) => {
      throw new Error(message, { cause: error });
    },
  });
  atTestEnd(async () => {
    await hub.close();
    await rm(folder, { recursive: true, force: true });
  });
  return hub;
}

function connect(hub: Hub, kind: ConnectionKind): Client {
  let dropped = false;
  const client: Client = { call: async () => ({}), pushed: [], fail: 'no', dropped: () => dropped };
  const peer = new JsonRpcPeer({
    send: (frame) => connection.receive(frame),
    handle: (_method, params) => void client.pushed.push((params as { preview: string }).preview),
    report: (error) => {
      throw error;
    },
  });
  const connection = hub.connect({
    kind,
    send: (frame, accepted) => {
      if (client.fail === 'at once') return accepted(new Error('EPIPE'));
      if (client.fail === 'later') return void setImmediate(() => accepted(new Error('EPIPE')));
      peer.receive(frame);
      accepted();
    },
    isBlocked: () => false,
    pause: () => undefined,
    resume: () => undefined,
    end: () => undefined,
    destroy: () => {
      dropped = true;
    },
  });
  client.call = async (method, params) => (await peer.request(method, params)) as Answer;
  return client;
}

async function agent(hub: Hub, name: string, kind: ConnectionKind = 'unix'): Promise<Client> {
  const client = connect(hub, kind);
  await client.call('agent.register', { name });
  await client.call('session.start', { agent_id: name });
  return client;
}

test.each(['at once', 'later'] as const)(
  'a Unix write that fails %s drops the connection, the push goes to the WebSocket, and the send succeeds',
  async (when) => {
    const hub = await openHub();
    const author = await agent(hub, 'author');
    const reader = await agent(hub, 'reader');
    await reader.call('subscribe', { all: true });
    const { session_id: session } = await reader.call('agent.whoami');
    const web = connect(hub, 'webSocket');
    await web.call('session.attach', { session_id: session });
    reader.fail = when;
    expect(await author.call('message.send', { content: 'one' })).toHaveProperty('message_id');
    await expect.poll(() => web.pushed).toEqual(['one']);
    expect([reader.dropped(), reader.pushed]).toEqual([true, []]);
    await author.call('message.send', { content: 'two' });
    await expect.poll(() => web.pushed).toEqual(['one', 'two']);
    expect(await web.call('subscriptions.list')).toMatchObject({ subscriptions: [{ all: true }] });
  },
);

test('a push that fails everywhere leaves the message in the list', async () => {
  const hub = await openHub();
  const author = await agent(hub, 'author');
  const reader = await agent(hub, 'reader');
  await reader.call('subscribe', { all: true });
  const { session_id: session } = await reader.call('agent.whoami');
  reader.fail = 'later';
  await author.call('message.send', { content: 'kept' });
  await expect.poll(() => reader.dropped()).toBe(true);
  const back = connect(hub, 'unix');
  await back.call('session.attach', { session_id: session });
  expect(await back.call('message.list', { unread: true })).toMatchObject({
    messages: [{ body: { content: 'kept' } }],
  });
});

test('nothing is pushed or answered before the message is on disk', async () => {
  const disk: { held?: Promise<void>; release(): void } = { release: () => undefined };
  const files: typeof realFileSystem = {
    ...realFileSystem,
    openForAppend: async (path) => {
      const file = await realFileSystem.openForAppend(path);
      return {
        ...file,
        sync: async () => {
          await disk.held;
          return file.sync();
        },
      };
    },
  };
  const hub = await openHub(files);
  const author = await agent(hub, 'author');
  const reader = await agent(hub, 'reader');
  await reader.call('subscribe', { all: true });
  disk.held = new Promise((resolve) => {
    disk.release = resolve;
  });
  let answered = false;
  const sending = author.call('message.send', { content: 'one' }).then(() => {
    answered = true;
  });
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
  expect([answered, reader.pushed, (await reader.call('message.list'))['messages']]).toEqual([false, [], []]);
  disk.release();
  await sending;
  expect(reader.pushed).toEqual(['one']);
});

test('a WebSocket that answers no ping is dropped within two intervals; one that answers stays connected', async () => {
  const clock = createManualClock();
  await withHub(
    async (hub) => {
      const url = `${hub.address.web_socket}?token=${hub.address.token}`;
      const [silent, alive] = [new WebSocket(url, { autoPong: false }), new WebSocket(url)];
      await Promise.all([silent, alive].map((socket) => new Promise((resolve) => socket.once('open', resolve))));
      const gone = new Promise((resolve) => silent.once('close', resolve));
      const pinged = () => new Promise((resolve) => alive.once('ping', resolve));
      const first = pinged();
      clock.advance(30_000);
      await first;
      // The pong is sent when the ping arrives; once a later request is answered, the pong has arrived too.
      const answered = new Promise((resolve) => alive.once('message', resolve));
      alive.send('{"jsonrpc":"2.0","method":"health","id":1}');
      await answered;
      clock.advance(30_000);
      await gone;
      expect(alive.readyState).toBe(WebSocket.OPEN);
      alive.close();
    },
    { clock },
  );
});
