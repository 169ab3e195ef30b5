// Transports of the hub: the connection used for a push, slow and broken clients, refused input.
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { Connection } from '../../../src/hub/connection.ts';
import { type TestClient, type TestHub, unixClient, withHub } from '../../support/testHub.ts';

/** Opens the same session on both transports. */
async function onBoth(hub: TestHub): Promise<{ unix: TestClient; web: TestClient }> {
  const unix = await hub.agent('reader');
  await unix.call('subscribe', { all: true });
  const { session_id: session } = await unix.call('agent.whoami');
  const web = await hub.webSocket();
  await web.call('session.attach', { session_id: session });
  return { unix, web };
}

const previews = (client: TestClient) => client.pushes.map(({ params }) => params['preview']);

test.each(['unix', 'webSocket'] as const)('a session only on %s gets its push', (kind) =>
  withHub(async (hub) => {
    const [author, reader] = [await hub.agent('author'), await hub.agent('reader', { kind })];
    await reader.call('subscribe', { all: true });
    await author.call('message.send', { content: 'hello' });
    await reader.pushed('notification.message');
    expect(previews(reader)).toEqual(['hello']);
  }),
);

test('a session on both transports gets one push, over the Unix socket', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author');
    const { unix, web } = await onBoth(hub);
    await author.call('message.send', { content: 'hello' });
    await unix.pushed('notification.message');
    // The answer comes after all earlier pushes, so none follows.
    await web.call('health');
    expect([previews(unix), previews(web)]).toEqual([['hello'], []]);
  }));

test('a session whose Unix connection has ended gets its push over the WebSocket', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author');
    const { unix, web } = await onBoth(hub);
    unix.close();
    await unix.closed;
    await author.call('message.send', { content: 'hello' });
    await web.pushed('notification.message');
    expect(previews(web)).toEqual(['hello']);
  }));

test('a send succeeds while the receiver is not connected, and the message is listed on its return', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author');
    const reader = await hub.agent('reader');
    await reader.call('subscribe', { all: true });
    const { session_id: session, cursor } = await reader.call('session.attach', {
      session_id: (await reader.call('agent.whoami'))['session_id'],
    });
    reader.close();
    await reader.closed;
    await author.call('message.send', { content: 'missed' });
    const again = await hub.unix();
    await again.call('session.attach', { session_id: session });
    expect((await again.call('subscriptions.list'))['subscriptions']).toHaveLength(1);
    const { messages } = await again.call('message.list', { after: cursor });
    expect(messages).toMatchObject([{ body: { content: 'missed' }, is_read: false }]);
    await author.call('message.send', { content: 'next' });
    await again.pushed('notification.message');
    expect(previews(again)).toEqual(['next']);
  }));

test('a client that reads nothing is dropped at the 257th waiting push and keeps its subscriptions', () =>
  withHub(async (hub) => {
    const [author, slow, quick] = [await hub.agent('author'), await hub.agent('slow'), await hub.agent('quick')];
    for (const reader of [slow, quick]) await reader.call('subscribe', { all: true });
    const { session_id: session } = await slow.call('agent.whoami');
    const { cursor } = await slow.call('session.attach', { session_id: session });
    slow.pause();
    // Large scopes fill the kernel's buffer quickly, so pushes have to wait.
    const scopes = Array.from({ length: 16 }, (_, index) => ({ type: 'file', value: `${index}${'x'.repeat(4000)}` }));
    const sent = 400;
    for (let index = 0; index < sent; index++) await author.call('message.send', { content: String(index), scopes });
    await quick.pushed('notification.message', sent);
    slow.resume();
    await slow.closed;
    expect(slow.pushes.length).toBeLessThan(sent);
    const again = await hub.unix();
    await again.call('session.attach', { session_id: session });
    expect((await again.call('subscriptions.list'))['subscriptions']).toHaveLength(1);
    const missed: unknown[] = [];
    for (let after: unknown = cursor, more: unknown = true; more === true; ) {
      const page = await again.call('message.list', { after });
      missed.push(...(page['messages'] as unknown[]));
      [after, more] = [page['after'], page['more']];
    }
    expect(missed).toHaveLength(sent);
  }));

test.each(['unix', 'webSocket'] as const)('a client that reads is not dropped by 360 messages at once (%s)', (kind) =>
  withHub(async (hub) => {
    const senders = await Promise.all(['one', 'two', 'three'].map((name) => hub.agent(name)));
    const reader = await hub.agent('reader', { kind });
    await reader.call('subscribe', { all: true });
    const each = Array.from({ length: 120 }, (_, index) => ({ content: String(index) }));
    await Promise.all(senders.flatMap((sender) => each.map((message) => sender.call('message.send', message))));
    await reader.pushed('notification.message', 360);
    expect((await reader.call('agent.whoami'))['agent_id']).toBe('reader');
  }),
);

test('a second connection of the same kind takes over the binding; the older one stays open, unbound', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author');
    const first = await hub.agent('reader');
    await first.call('subscribe', { all: true });
    const { session_id: session } = await first.call('agent.whoami');
    const second = await hub.unix();
    await second.call('session.attach', { session_id: session });
    await author.call('message.send', { content: 'hello' });
    await second.pushed('notification.message');
    expect(await first.call('health')).toMatchObject({ status: 'ok' });
    expect(previews(first)).toEqual([]);
    await expect(first.call('subscriptions.list')).rejects.toMatchObject({ message: 'no active session found' });
  }));

function upgrade(hub: TestHub, headers: Record<string, string>, query = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const url = hub.address.web_socket.replace('ws:', 'http:') + query;
    const asked = request(url, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
        ...headers,
      },
    });
    asked.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('upgrade', (_, socket) => {
      socket.destroy();
      resolve(101);
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('a WebSocket needs the token and an allowed origin', () =>
  withHub(
    async (hub) => {
      const { token } = hub.address;
      const authorization = `Bearer ${token}`;
      expect(await upgrade(hub, {})).toBe(401);
      expect(await upgrade(hub, { authorization: 'Bearer wrong' })).toBe(401);
      expect(await upgrade(hub, {}, '?token=')).toBe(401);
      expect(await upgrade(hub, { authorization })).toBe(101);
      expect(await upgrade(hub, {}, `?token=${token}`)).toBe(101);
      expect(await upgrade(hub, { authorization, origin: 'https://evil.example' })).toBe(403);
      expect(await upgrade(hub, { authorization, origin: 'null' })).toBe(403);
      expect(await upgrade(hub, { authorization, origin: 'https://ours.example' })).toBe(101);
    },
    { allowedOrigins: ['https://ours.example'] },
  ));

test.each(['//', '//[', 'http://['])('a request for the invalid address %s is refused, and others work', (path) =>
  withHub(async (hub) => {
    const { port } = new URL(hub.address.web_socket);
    const status = await new Promise((resolve, reject) => {
      const headers = { connection: 'Upgrade', upgrade: 'websocket' };
      const asked = request({ host: '127.0.0.1', port, path, headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject).end();
    });
    expect(status).toBe(404);
    expect(await (await hub.unix()).call('health')).toMatchObject({ status: 'ok' });
  }),
);

test('the socket, the address and every other file are private', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author');
    await author.call('message.send', { content: 'hello' });
    const modes = await Promise.all(
      ['', 'hub.sock', 'hub.json', 'hub.jsonl', 'messages', 'messages/author.jsonl'].map(
        async (name) => [name, (await stat(join(hub.folder, name))).mode & 0o777] as const,
      ),
    );
    for (const [name, mode] of modes) expect([name, mode & 0o077]).toEqual([name, 0]);
  }));

test('a stale socket is replaced, a live one is not', () =>
  withHub(async (hub) => {
    const path = hub.address.socket;
    await hub.stop();
    await writeFile(path, '');
    await hub.restart();
    expect(await (await hub.unix()).call('health')).toMatchObject({ status: 'ok' });
    await hub.stop();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(path, resolve));
    await expect(hub.restart()).rejects.toThrow('another program listens');
    await new Promise<void>((resolve) => other.close(() => resolve()));
  }));

test.each([
  ['-32700 for what is not JSON', '{"jsonrpc":', { id: null, error: { code: -32700 } }],
  ['-32600 for an empty batch', '[]', { id: null, error: { code: -32600 } }],
  ['-32600 for a number', '1', { id: null, error: { code: -32600 } }],
  // Under its id, unlike WIRE B: with a null id its sender would wait for ever.
  ['-32600 for another version', '{"jsonrpc":"1.0","method":"health","id":1}', { id: 1, error: { code: -32600 } }],
  [
    '-32600 for an id that is an object',
    '{"jsonrpc":"2.0","method":"health","id":{}}',
    { id: null, error: { code: -32600 } },
  ],
  ['-32601 for an unknown method', '{"jsonrpc":"2.0","method":"no.such","id":7}', { id: 7, error: { code: -32601 } }],
  [
    '-32602 with the field',
    '{"jsonrpc":"2.0","method":"agent.register","params":{"name":"A B"},"id":"x"}',
    { id: 'x', error: { code: -32602, message: expect.stringContaining('name') as string } },
  ],
  [
    '-32602 for positional parameters',
    '{"jsonrpc":"2.0","method":"agent.register","params":["a"],"id":1}',
    { id: 1, error: { code: -32602 } },
  ],
])('answers %s', (_, text, expected) =>
  withHub(async (hub) => {
    for (const client of [await hub.unix(), await hub.webSocket()]) {
      client.raw(text);
      const [frame = ''] = await client.frame();
      expect(JSON.parse(frame)).toMatchObject({ jsonrpc: '2.0', ...expected });
    }
  }),
);

test('a batch is answered by one array, without entries for notifications', () =>
  withHub(async (hub) => {
    for (const client of [await hub.unix(), await hub.webSocket()]) {
      client.raw(
        JSON.stringify([
          { jsonrpc: '2.0', method: 'health', id: 1 },
          { jsonrpc: '2.0', method: 'health' },
          7,
          { jsonrpc: '2.0', method: 'no.such', id: 2 },
        ]),
      );
      const [frame = ''] = await client.frame();
      expect(JSON.parse(frame)).toMatchObject([
        { id: 1, result: { status: 'ok' } },
        { id: null, error: { code: -32600 } },
        { id: 2, error: { code: -32601 } },
      ]);
    }
  }));

test('a batch can register, start a session, subscribe and send in one frame', () =>
  withHub(async (hub) => {
    const client = await hub.unix();
    const calls: [string, object][] = [
      ['agent.register', { name: 'quick' }],
      ['session.start', { agent_id: 'quick' }],
      ['subscribe', { all: true }],
      ['message.send', { content: 'hello' }],
    ];
    client.raw(JSON.stringify(calls.map(([method, params], id) => ({ jsonrpc: '2.0', method, params, id }))));
    const [frame = ''] = await client.frame();
    expect((JSON.parse(frame) as { error?: unknown }[]).map(({ error }) => error)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  }));

test('batches of 10,000, deep JSON, large frames and floods are refused or bounded, and other clients are still served', () =>
  withHub(async (hub) => {
    const bystander = await hub.agent('bystander');
    const batch = await hub.unix();
    batch.raw(JSON.stringify(Array.from({ length: 10_000 }, (_, id) => ({ jsonrpc: '2.0', method: 'health', id }))));
    expect(JSON.parse((await batch.frame())[0] ?? '')).toMatchObject({ error: { code: -32600 } });
    const deep = await hub.unix();
    deep.raw(`{"jsonrpc":"2.0","method":"health","id":1,"params":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
    expect(JSON.parse((await deep.frame())[0] ?? '')).toMatchObject({ error: { code: -32700 } });
    for (const large of [await hub.unix(), await hub.webSocket()]) {
      large.raw(JSON.stringify({ jsonrpc: '2.0', method: 'health', params: { x: 'x'.repeat(2 * 1024 * 1024) } }));
      await large.closed;
    }
    const flood = await hub.unix();
    flood.pause();
    const line = JSON.stringify({ jsonrpc: '2.0', method: 'agent.list', id: 1 });
    for (let index = 0; index < 20_000; index++) flood.raw(line);
    expect(await bystander.call('health')).toMatchObject({ status: 'ok' });
    flood.close();
  }));

test.each([{ id: 1 }, {}])('nothing is read while 256 requests (%j) are being answered', async (id) => {
  const calls: string[] = [];
  const call = (name: string) => () => void calls.push(name);
  const stored: (() => void)[] = [];
  const connection = new Connection(
    {
      kind: 'unix',
      send: (_, accepted) => accepted(),
      isBlocked: () => false,
      ...{ pause: call('pause'), resume: call('resume'), end: call('end'), destroy: call('destroy') },
    },
    {
      handle: () => new Promise<void>((resolve) => stored.push(resolve)),
      report: call('report'),
      onGone: call('gone'),
    },
  );
  const frame = JSON.stringify({ jsonrpc: '2.0', method: 'message.send', ...id });
  for (let sent = 0; sent < 255; sent++) connection.receive(frame);
  expect(calls).toEqual([]);
  connection.receive(frame);
  expect(calls).toEqual(['pause']);
  for (const store of stored.splice(0, 200)) store();
  await expect.poll(() => calls).toEqual(['pause', 'resume']);
  connection.gone();
});

test('content and structured of more than 900 KiB are refused', () =>
  withHub(async (hub) => {
    const author = await hub.agent('author');
    const content = 'x'.repeat(900 * 1024);
    expect(await author.call('message.send', { content })).toHaveProperty('message_id');
    await expect(author.call('message.send', { content, structured: 1 })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('content') as string,
    });
  }));

test('half a line is not answered, and a line that never ends closes its connection', () =>
  withHub(async (hub) => {
    await mkdir(join(hub.folder, 'unused'));
    const socket = await unixClient(hub.address.socket);
    socket.raw('x'.repeat(1024 * 1024 + 1));
    await socket.closed;
    const web = new WebSocket(`${hub.address.web_socket}?token=${hub.address.token}`);
    await new Promise((resolve) => web.once('open', resolve));
    web.send('x'.repeat(1024 * 1024 + 1));
    await new Promise((resolve) => web.once('close', resolve));
    expect(await (await hub.unix()).call('health')).toMatchObject({ status: 'ok' });
  }));
