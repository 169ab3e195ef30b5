// Measures the hub: pushes to many connections, matching of many subscriptions, clients that read nothing, and NATS.
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from 'node:sqlite';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { WebSocket, WebSocketServer } from 'ws';
import { type HubServer, startHubServer } from '../../src/hub/hubServer.ts';
import { realFileSystem } from '../../src/node/files/fileSystem.ts';
import { tryKernelLock } from '../../src/node/kernelLock.ts';
import { realClock } from '../../src/node/realClock.ts';
import { realIds } from '../../src/node/realIds.ts';
import { untilConnected } from '../support/nats/joinedHub.ts';
import { Machine } from '../support/nats/machine.ts';
import { hasNatsServer, NatsServer } from '../support/nats/natsServer.ts';
import { recordOf } from '../support/nats/rawRecords.ts';
import { type TestClient, unixClient } from '../support/testHub.ts';
import { measure } from './measure.ts';

const roots: string[] = [];

async function startHub(): Promise<HubServer> {
  const root = await mkdtemp(join(tmpdir(), 'earshot-bench-'));
  roots.push(root);
  const server = await startHubServer({
    files: realFileSystem,
    clock: realClock,
    tryLock: tryKernelLock,
    sqlite,
    folder: join(root, 'hub'),
    version: 'bench',
    port: 0,
    ulid: () => realIds.ulid(),
    report: (message) => console.error(message),
  });
  if (server === undefined) throw new Error('the hub is locked');
  return server;
}

async function agent(server: HubServer, name: string): Promise<TestClient> {
  const client = await unixClient(server.address.socket);
  await client.call('agent.register', { name });
  await client.call('session.start', { agent_id: name });
  return client;
}

// Pushes to 100 connections, compared with a broadcast of the same bytes. Twice the control's time is half its rate.
const CONNECTIONS = 100;
const PUSHED = 300;
{
  const server = await startHub();
  const { web_socket: url, token } = server.address;
  const author = await agent(server, 'author');
  let received = 0;
  let frame = '';
  let done: (() => void) | undefined;
  const count = (data: unknown) => {
    frame = String(data);
    received += 1;
    if (received === CONNECTIONS * PUSHED) done?.();
  };
  const sockets: WebSocket[] = [];
  for (let index = 0; index < CONNECTIONS; index += 1) {
    const socket = await openSocket(url, token);
    const replies = callsOf(socket);
    await replies('agent.register', { name: `reader${index}` });
    await replies('session.start', { agent_id: `reader${index}` });
    await replies('subscribe', { all: true });
    socket.removeAllListeners('message');
    socket.on('message', count);
    sockets.push(socket);
  }
  const wait = () => {
    received = 0;
    return new Promise<void>((resolve) => {
      done = resolve;
    });
  };
  const send = async () => {
    const arrived = wait();
    // Not more at once than the hub may queue for one connection.
    for (let sent = 0; sent < PUSHED; sent += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, index) => author.call('message.send', { content: `message ${sent + index}` })),
      );
    }
    await arrived;
    return CONNECTIONS * PUSHED;
  };
  await send();
  const bare = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await new Promise((resolve) => bare.once('listening', resolve));
  const address = bare.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const bareSockets: WebSocket[] = [];
  for (let index = 0; index < CONNECTIONS; index += 1) {
    const socket = await openSocket(`ws://127.0.0.1:${port}`, '');
    socket.on('message', count);
    bareSockets.push(socket);
  }
  const bytes = frame;
  await measure({
    what: `pushes to ${CONNECTIONS} connections, each message stored first`,
    control: 'a bare ws broadcast of the same bytes',
    goal: 2,
    runControl: async () => {
      const arrived = wait();
      for (let sent = 0; sent < PUSHED; sent += 50) {
        for (let index = 0; index < 50; index += 1) for (const client of bare.clients) client.send(bytes);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await arrived;
      return CONNECTIONS * PUSHED;
    },
    runEarshot: send,
  });
  for (const socket of [...sockets, ...bareSockets]) socket.terminate();
  bare.close();
  author.close();
  await server.close();
}

// 100 agents with 10,000 subscriptions, compared with the same agents with 100; the number of matches is equal.
async function subscribed(each: number): Promise<{ server: HubServer; run(): Promise<number> }> {
  const server = await startHub();
  const author = await agent(server, 'author');
  const readers: TestClient[] = [];
  for (let index = 0; index < 100; index += 1) {
    const reader = await agent(server, `reader${index}`);
    await Promise.all(
      Array.from({ length: each }, (_, one) =>
        reader.call('subscribe', {
          scope: { type: 'file', value: one === 0 ? `src/${index}.ts` : `other/${index}/${one}.ts` },
        }),
      ),
    );
    readers.push(reader);
  }
  let sentBefore = 0;
  const run = async () => {
    const messages = 400;
    for (let sent = 0; sent < messages; sent += 40) {
      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          author.call('message.send', {
            content: 'changed',
            scopes: [{ type: 'file', value: `src/${(sent + index) % 100}.ts` }],
          }),
        ),
      );
    }
    sentBefore += messages;
    await Promise.all(readers.map((reader) => reader.pushed('notification.message', sentBefore / 100)));
    return messages;
  };
  return { server, run };
}
{
  const [few, many] = [await subscribed(1), await subscribed(100)];
  await measure({
    what: 'messages to 100 agents with 10,000 subscriptions',
    control: 'with 100 subscriptions and equally many matches',
    goal: 1.3,
    clock: 'processor',
    runControl: few.run,
    runEarshot: many.run,
  });
  await few.server.close();
  await many.server.close();
}

// Clients that read nothing: the sender's rate with them, compared with the rate without.
{
  const server = await startHub();
  const author = await agent(server, 'author');
  const send = async () => {
    for (let sent = 0; sent < 1000; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => author.call('message.send', { content: 'x'.repeat(1000) })));
    }
    return 1000;
  };
  let slow: TestClient[] = [];
  await measure({
    what: 'sending while ten clients read nothing',
    control: 'sending while nobody listens',
    goal: 1.5,
    runControl: async () => {
      for (const client of slow) client.close();
      await Promise.all(slow.map((client) => client.closed));
      return send();
    },
    runEarshot: async () => {
      slow = await Promise.all(Array.from({ length: 10 }, (_, index) => agent(server, `slow${index}`)));
      for (const client of slow) {
        await client.call('subscribe', { all: true });
        client.pause();
      }
      return send();
    },
  });
  for (const client of slow) client.close();
  author.close();
  await server.close();
}

// Through NATS to the hub of another machine, compared with bare JetStream with equally many publishers and a durable
// consumer. The hubs are separate processes, as on two machines.
if (hasNatsServer) {
  const PUBLISHERS = 16;
  /** Messages that an agent sends at once. */
  const BURST = 25;
  const MESSAGES = 4000;
  const server = await NatsServer.start(['alpha', 'beta']);
  const [near, far] = [
    await Machine.start('alpha', server, { direct: true }),
    await Machine.start('beta', server, { direct: true }),
  ];
  for (const machine of [near, far]) await untilConnected(await machine.agent(`watcher-${machine.name}`));
  const openAll = Array.from({ length: PUBLISHERS }, (_, index) => openLines(near.socket, `author${index}`));
  const authors = await Promise.all(openAll);
  const reader = await openLines(far.socket, 'reader');
  await reader.call([requestOf('subscribe', { all: true })]);
  const content = 'the build is green again\n'.repeat(10);
  const admin = await server.connectAsAdmin();
  const client = jetstream(admin);
  const manager = await jetstreamManager(admin);
  await manager.streams.add({ name: 'BARE', subjects: ['bare.>'] });
  await manager.consumers.add('BARE', { durable_name: 'bare', ack_policy: AckPolicy.Explicit });
  const consumer = await client.consumers.get('BARE', 'bare');
  const messages = await consumer.consume({ max_messages: 200 });
  let consumed = 0;
  let all: (() => void) | undefined;
  const consuming = (async () => {
    for await (const message of messages) {
      message.ack();
      consumed += 1;
      if (consumed % MESSAGES === 0) all?.();
    }
  })();
  const record = JSON.stringify(recordOf('author0', content));
  await measure({
    what: `messages through NATS to another hub, ${PUBLISHERS} authors, each stored on both sides and pushed`,
    control: 'bare JetStream with equally many publishers',
    goal: 2,
    runControl: async () => {
      const ended = new Promise<void>((resolve) => {
        all = resolve;
      });
      const publish = async (publisher: number) => {
        for (let sent = 0; sent < MESSAGES / PUBLISHERS; sent += 1)
          await client.publish(`bare.${publisher}`, record, { msgID: realIds.ulid() });
      };
      await Promise.all(Array.from({ length: PUBLISHERS }, (_, index) => publish(index)));
      await ended;
      return MESSAGES;
    },
    runEarshot: async () => {
      const arrived = reader.receive(MESSAGES);
      const burst = Array.from({ length: BURST }, () => requestOf('message.send', { content }));
      const send = async (author: Lines) => {
        for (let sent = 0; sent < MESSAGES / PUBLISHERS; sent += BURST) await author.call(burst);
      };
      await Promise.all(authors.map(send));
      await arrived;
      return MESSAGES;
    },
  });
  messages.stop();
  await consuming;
  await admin.close();
  await near.remove();
  await far.remove();
  await server.stop();
} else {
  console.log('Not measured without nats-server: messages through NATS to another hub');
}

for (const root of roots) await rm(root, { recursive: true, force: true });
// Also ends clients that were not closed.
process.exit();

async function openSocket(url: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` }, perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return socket;
}

/** Makes calls one after the other, without a JSON-RPC peer that would take time for each push. */
function callsOf(socket: WebSocket): (method: string, params: object) => Promise<unknown> {
  let id = 0;
  return (method, params) => {
    id += 1;
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return new Promise((resolve) => socket.once('message', resolve));
  };
}

interface Lines {
  /** Resolves once each request has an answer. */
  call(requests: readonly string[]): Promise<void>;
  /** Resolves once this many further lines have arrived. */
  receive(lines: number): Promise<void>;
}

function requestOf(method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`;
}

/** An agent that only counts lines, so that its own work is not measured. */
async function openLines(path: string, name: string): Promise<Lines> {
  const socket = connect(path);
  await new Promise((resolve) => socket.once('connect', resolve));
  let waited = 0;
  let wake: (() => void) | undefined;
  socket.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) waited -= 1;
    if (waited <= 0) wake?.();
  });
  const receive = (lines: number) => {
    waited = lines;
    return new Promise<void>((resolve) => {
      wake = resolve;
    });
  };
  const call = (requests: readonly string[]) => {
    const answered = receive(requests.length);
    socket.write(requests.join(''));
    return answered;
  };
  await call([requestOf('agent.register', { name }), requestOf('session.start', { agent_id: name })]);
  return { call, receive };
}
