// A real hub in a temporary folder, and clients on its real sockets.
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as sqlite from 'node:sqlite';
import { WebSocket } from 'ws';
import { LineSplitter } from '../../src/base/json/jsonLines.ts';
import { JsonRpcPeer } from '../../src/base/json/jsonRpc.ts';
import { joinHub, type Membership } from '../../src/hub/client/joinHub.ts';
import { HubAgent, type HubAgentDeps } from '../../src/hub/client/hubAgent.ts';
import { type HubServer, type HubServerDeps, startHubServer } from '../../src/hub/hubServer.ts';
import { realFileSystem } from '../../src/node/files/fileSystem.ts';
import { tryKernelLock } from '../../src/node/kernelLock.ts';
import { realClock } from '../../src/node/realClock.ts';
import { realIds } from '../../src/node/realIds.ts';
import { type HubAddress } from '../../src/protocol/hub.ts';
import { type MessagePush } from '../../src/protocol/hubMethods.ts';
import { atTestEnd } from './endings.ts';

interface Pushed {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export type Answer = Readonly<Record<string, unknown>>;

export interface TestClient {
  /** Rejects with the hub's error. */
  call(method: string, params?: object): Promise<Answer>;
  readonly pushes: readonly Pushed[];
  /** Resolves once this many pushes of the method have arrived. */
  pushed(method: string, count?: number): Promise<readonly Pushed[]>;
  /** Sends raw text; the replies are in `frames`. */
  raw(text: string): void;
  readonly frames: readonly string[];
  frame(count?: number): Promise<readonly string[]>;
  readonly closed: Promise<void>;
  close(): void;
  /** Stops and continues reading from the socket. */
  pause(): void;
  resume(): void;
}

export interface TestHub {
  readonly folder: string;
  readonly address: HubAddress;
  readonly reports: readonly string[];
  unix(): Promise<TestClient>;
  webSocket(): Promise<TestClient>;
  /** A client with a registered agent and its own session. */
  agent(name: string, options?: { role?: string; module?: string; kind?: 'unix' | 'webSocket' }): Promise<TestClient>;
  stop(): Promise<void>;
  restart(): Promise<void>;
}

/** What a hub and its members need from this machine. */
export const realHubDeps = {
  files: realFileSystem,
  clock: realClock,
  tryLock: tryKernelLock,
  sqlite,
  version: 'test',
  port: 0,
  ulid: () => realIds.ulid(),
  report: () => undefined,
};

/** A window whose workspace folder is the home folder, until the end of the test. */
export async function joinHubOf(home: string): Promise<Membership> {
  const window = await joinHub({ ...realHubDeps, workspaceFolder: home, home, allowedOrigins: [] });
  atTestEnd(async () => {
    window.link.dispose();
    await window.member.close();
  });
  return window;
}

export interface ListeningAgent {
  readonly client: HubAgent;
  readonly received: readonly MessagePush[];
  previews(): string[];
}

/** An agent that collects the messages for it, until the end of the test. */
export function listeningAgent(
  deps: Pick<HubAgentDeps, 'folder' | 'name'> & Partial<Omit<HubAgentDeps, 'folder' | 'name'>>,
): ListeningAgent {
  const client = new HubAgent({ ...realHubDeps, agent: { role: '', module: '', display: '' }, ...deps });
  const received: MessagePush[] = [];
  const listening = client.onMessage((message) => received.push(message));
  atTestEnd(async () => {
    listening.dispose();
    await client.close();
  });
  return { client, received, previews: () => received.map(({ preview }) => preview) };
}

type Options = Partial<Pick<HubServerDeps, 'identity' | 'files' | 'clock' | 'allowedOrigins' | 'join'>>;

export async function withHub(use: (hub: TestHub) => Promise<void>, options: Options = {}): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'earshot-hub-'));
  const folder = join(root, 'hub');
  const reports: string[] = [];
  const clients: TestClient[] = [];
  const start = async (): Promise<HubServer> => {
    const server = await startHubServer({
      ...realHubDeps,
      folder,
      report: (message) => reports.push(message),
      ...options,
    });
    if (server === undefined) throw new Error('another process holds the hub');
    return server;
  };
  let server: HubServer | undefined;
  const address = () => {
    if (server === undefined) throw new Error('the hub is stopped');
    return server.address;
  };
  const keep = (client: TestClient) => {
    clients.push(client);
    return client;
  };
  const hub: TestHub = {
    folder,
    reports,
    get address() {
      return address();
    },
    unix: async () => keep(await unixClient(address().socket)),
    webSocket: async () => keep(await webSocketClient(address())),
    agent: async (name, { kind = 'unix', ...registration } = {}) => {
      const client = kind === 'unix' ? await hub.unix() : await hub.webSocket();
      await client.call('agent.register', { name, ...registration });
      await client.call('session.start', { agent_id: name });
      return client;
    },
    stop: async () => {
      await server?.close();
      server = undefined;
    },
    restart: async () => {
      await server?.close();
      server = await start();
    },
  };
  try {
    await hub.restart();
    await use(hub);
  } finally {
    for (const client of clients) client.close();
    await hub.stop();
    await rm(root, { recursive: true, force: true });
  }
}

export async function unixClient(path: string): Promise<TestClient> {
  const socket = connect(path);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const client = createClient({
    send: (text) => socket.write(`${text}\n`),
    close: () => socket.destroy(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    closed: ended(socket),
  });
  const lines = new LineSplitter(64 * 1024 * 1024, {
    onLine: (line) => client.received(line ?? ''),
    onTooLong: () => socket.destroy(),
  });
  socket.on('data', (chunk: Buffer) => lines.write(chunk));
  return client;
}

function ended(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  return new Promise((resolve) => socket.on('close', () => resolve()));
}

async function webSocketClient({ web_socket: url, token }: HubAddress): Promise<TestClient> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);
  const client = createClient({
    send: (text) => socket.send(text),
    close: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    closed,
  });
  socket.on('message', (data) => client.received((data as Buffer).toString('utf8')));
  return client;
}

interface Wire {
  send(text: string): void;
  close(): void;
  pause(): void;
  resume(): void;
  readonly closed: Promise<void>;
}

function createClient(wire: Wire): TestClient & { received(frame: string): void } {
  const pushes: Pushed[] = [];
  const frames: string[] = [];
  let waiting: (() => void)[] = [];
  const peer = new JsonRpcPeer({
    send: (text) => wire.send(text),
    handle: (method, params) => void pushes.push({ method, params: params as Pushed['params'] }),
    report: (error) => {
      throw error;
    },
  });
  const until = async <T>(read: () => T | undefined): Promise<T> => {
    for (let value = read(); ; value = read()) {
      if (value !== undefined) return value;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  wire.closed.then(() => peer.close('the hub has closed the connection')).catch(() => undefined);
  return {
    call: async (method, params) => (await peer.request(method, params)) as Answer,
    pushes,
    frames,
    pushed: (method, count = 1) =>
      until(() => {
        const found = pushes.filter((push) => push.method === method);
        return found.length >= count ? found : undefined;
      }),
    frame: (count = 1) => until(() => (frames.length >= count ? frames : undefined)),
    raw: (text) => wire.send(text),
    closed: wire.closed,
    close: () => wire.close(),
    pause: () => wire.pause(),
    resume: () => wire.resume(),
    received: (frame) => {
      frames.push(frame);
      peer.receive(frame);
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
  };
}
