// A plugin that a test drives with raw lines, over the window's socket or as a real child process.
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LineSplitter } from '../../../src/base/json/jsonLines.ts';
import { type HostMessage, type HostMessageOf, hostMessageSchema } from '../../../src/protocol/plugin.ts';

type Wanted = HostMessage['type'] | ((message: HostMessage) => boolean);

export interface RawPlugin {
  /** All messages received, parsed; each line was checked against the schema. */
  readonly received: readonly HostMessage[];
  /** The lines as they were received. */
  readonly lines: readonly string[];
  /** Sends an object as one line, a string or bytes unchanged. */
  send(line: object | string | Uint8Array): void;
  /** Resolves with the next matching message that no earlier call returned. */
  next<T extends HostMessage['type']>(type: T): Promise<HostMessageOf<T>>;
  next(matches: (message: HostMessage) => boolean): Promise<HostMessage>;
  /** Resolves with the next matching event. */
  event(matches?: (event: HostMessageOf<'event'>) => boolean): Promise<HostMessageOf<'event'>>;
  /** Sends a request with its own id and waits for the reply. */
  ask(request: object): Promise<HostMessage>;
  /** Stops reading until `resume`. */
  pause(): void;
  resume(): void;
  /** Closes its output without `exit`. */
  close(): void;
  /** Breaks the connection. */
  destroy(): void;
  readonly closed: Promise<void>;
}

let ids = 0;

function createRawPlugin(socket: Socket): RawPlugin {
  const received: HostMessage[] = [];
  const lines: string[] = [];
  const taken = new Set<number>();
  const waiting: (() => void)[] = [];
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const wake = () => {
    for (const resume of waiting.splice(0)) resume();
  };
  const splitter = new LineSplitter(512 * 1024 * 1024, {
    onLine: (line = '') => {
      lines.push(line);
      received.push(hostMessageSchema.parse(JSON.parse(line)));
      wake();
    },
    onTooLong: () => undefined,
  });
  socket.on('data', (chunk: Buffer) => splitter.write(chunk));
  socket.on('error', () => undefined);
  socket.on('close', () => {
    close();
    wake();
  });
  const next = async (wanted: Wanted): Promise<HostMessage> => {
    const fits = typeof wanted === 'string' ? (one: HostMessage) => one.type === wanted : wanted;
    for (;;) {
      const index = received.findIndex((message, at) => !taken.has(at) && fits(message));
      const found = received[index];
      if (found !== undefined) {
        taken.add(index);
        return found;
      }
      if (socket.destroyed) throw new Error(`the connection ended; the last lines: ${lines.slice(-3).join('\n')}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const send = (line: object | string | Uint8Array) =>
    void socket.write(typeof line === 'string' || line instanceof Uint8Array ? line : `${JSON.stringify(line)}\n`);
  return {
    received,
    lines,
    send,
    next: next,
    event: (matches = () => true) =>
      next((message) => message.type === 'event' && matches(message)) as Promise<HostMessageOf<'event'>>,
    ask: async (request) => {
      const id = `ask-${ids++}`;
      send({ ...request, id });
      // `created` precedes the reply to a query.
      return next((message) => 'id' in message && message.id === id && message.type !== 'created');
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.end(),
    destroy: () => socket.destroy(),
    closed,
  };
}

export async function attachRaw(path: string, first: object): Promise<RawPlugin> {
  const socket = connect(path);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const plugin = createRawPlugin(socket);
  plugin.send(first);
  return plugin;
}

/** Attaches a program that the window calls back, so that it can be allowed to answer. */
export async function attachAnswering(path: string, first: object): Promise<RawPlugin> {
  const secret = randomUUID();
  const { promise, resolve } = Promise.withResolvers<RawPlugin>();
  const server = createServer({ noDelay: true }, (socket) => {
    socket.write('\n');
    socket.once('data', (chunk: Buffer) => {
      const end = chunk.indexOf('\n') + 1;
      if (chunk.subarray(0, end - 1).toString() !== JSON.stringify({ type: 'attached', secret })) return;
      const plugin = createRawPlugin(socket);
      if (end < chunk.length) socket.unshift(chunk.subarray(end));
      server.close();
      resolve(plugin);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const asking = await attachRaw(path, { ...first, call_back: { port, secret } });
  return Promise.race([promise, asking.closed.then(() => asking)]);
}

/** Copies stdin to the test's socket, and the socket to stdout. */
const RELAY = `
const socket = require("node:net").connect(process.argv[1]);
process.stdin.pipe(socket, { end: false });
socket.pipe(process.stdout);
process.stdin.on("end", () => socket.end());
socket.on("close", () => process.exit(0));
socket.on("error", () => process.exit(3));
`;

/**
 * A small script that runs Node. If the command were Node itself, the whole Node binary would be hashed at each start.
 */
export async function writeNodeScript(path: string, args: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\nexec "${process.execPath}" ${args}\n`, { mode: 0o755 });
}

export interface Relay {
  /** The command that starts a plugin driven by the test. */
  readonly command: readonly string[];
  /** Resolves with the next process that was started with the command. */
  connected(): Promise<RawPlugin>;
  close(): Promise<void>;
}

export async function startRelay(name: string): Promise<Relay> {
  const base = join(tmpdir(), `earshot-relay-${process.pid}-${name}-${ids++}`);
  const [path, script] = [`${base}.sock`, `${base}.sh`];
  await writeNodeScript(script, `-e '${RELAY}' "$1"`);
  const found: RawPlugin[] = [];
  const sockets = new Set<Socket>();
  let waiting: ((plugin: RawPlugin) => void)[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    const plugin = createRawPlugin(socket);
    const [first, ...rest] = waiting;
    waiting = rest;
    if (first === undefined) found.push(plugin);
    else first(plugin);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    command: [script, path],
    connected: () => {
      const there = found.shift();
      return there === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(there);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(script, { force: true });
    },
  };
}
