// What a client can make the hub spend: memory for the answers of a batch or of many requests at once, and descriptors
// for connections without a token.
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { type TestClient, type TestHub, withHub } from '../../support/testHub.ts';

const MEGABYTE = 1024 * 1024;
/** As many as a batch may have, in a frame of about 10 KB. */
const REQUESTS = 100;

async function fill(hub: TestHub): Promise<void> {
  const author = await hub.agent('author');
  for (let number = 0; number < 6; number++)
    await author.call('message.send', { content: `${number} ${'x'.repeat(800 * 1024)}` });
}

const list = (id: number) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'message.list', params: { limit: 100, after: 'c0' } });

/** The most memory of this process while the hub answers. */
async function peakWhile(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage();
  const used = ({ heapUsed, external }: NodeJS.MemoryUsage) => heapUsed + external;
  let peak = used(before);
  const timer = setInterval(() => (peak = Math.max(peak, used(process.memoryUsage()))), 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return (Math.max(peak, used(process.memoryUsage())) - used(before)) / MEGABYTE;
}

interface Reply {
  readonly id: number;
  readonly result?: { readonly messages: readonly unknown[] };
  readonly error?: { readonly code: number; readonly message: string };
}

test('a batch whose answers would be too long gets the first ones, and errors instead of the others', () =>
  withHub(async (hub) => {
    await fill(hub);
    const reader = await hub.agent('reader');
    const before = reader.frames.length;
    const batch = `[${Array.from({ length: REQUESTS }, (_, id) => list(id + 1000)).join()}]`;
    const peak = await peakWhile(async () => {
      reader.raw(batch);
      await reader.frame(before + 1);
    });
    const frame = reader.frames[before] ?? '';
    const replies = JSON.parse(frame) as Reply[];
    expect(replies.map(({ id }) => id)).toEqual(Array.from({ length: REQUESTS }, (_, id) => id + 1000));
    expect(replies[0]?.result?.messages.length).toBeGreaterThan(0);
    expect(replies.at(-1)?.error).toEqual({
      code: -32000,
      message: expect.stringContaining('send this request again') as string,
    });
    expect(frame.length).toBeLessThan(8 * MEGABYTE);
    expect(peak).toBeLessThan(100);
    expect(batch.length).toBeLessThan(12_000);
    // Short answers do not count.
    const short = Array.from({ length: REQUESTS }, (_, id) =>
      JSON.stringify({ jsonrpc: '2.0', id, method: 'message.list', params: { author: 'nobody' } }),
    );
    reader.raw(`[${short.join()}]`);
    const answers = JSON.parse((await reader.frame(before + 2))[before + 1] ?? '') as Reply[];
    expect(answers.every(({ result }) => result !== undefined)).toBe(true);
  }));

test('requests with long answers that are sent at once are answered one after the other', () =>
  withHub(async (hub) => {
    await fill(hub);
    const reader = await hub.agent('reader');
    const before = reader.frames.length;
    const peak = await peakWhile(async () => {
      reader.raw(Array.from({ length: REQUESTS }, (_, id) => list(id + 1000)).join('\n'));
      await Promise.race([reader.frame(before + REQUESTS), reader.closed]);
    });
    // The test's client is in the same process and keeps every answer, if it is not disconnected.
    const received = reader.frames.slice(before).reduce((sum, frame) => sum + frame.length, 0) / MEGABYTE;
    expect(peak - 2 * received).toBeLessThan(150);
  }));

function idle(hub: TestHub): Promise<{ socket: Socket; said: () => string; closed: Promise<void> }> {
  const { port } = new URL(hub.address.web_socket);
  const socket = connect(Number(port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return new Promise((resolve) => socket.once('connect', () => resolve({ socket, said: () => text, closed })));
}

test('of many connections without a token only a few stay open, and clients with the token get in', () =>
  withHub(async (hub) => {
    const known: TestClient = await hub.agent('known', { kind: 'webSocket' });
    const all = await Promise.all(Array.from({ length: 300 }, () => idle(hub)));
    const client = await hub.webSocket();
    expect(await client.call('health')).toMatchObject({ status: 'ok' });
    expect(await known.call('health')).toMatchObject({ status: 'ok' });
    const [first, last] = [all[0], all.at(-1)];
    await first?.closed;
    expect(first?.said()).toContain('503');
    expect(first?.said()).toContain('without a token');
    await expect.poll(() => all.filter(({ socket }) => !socket.closed).length).toBeLessThanOrEqual(100);
    expect(last?.socket.closed).toBe(false);
    for (const { socket } of all) socket.destroy();
  }));

test.each([
  ['says nothing', ''],
  ['sends an incomplete request', 'GET /ws HTTP/1.1\r\nHost: x\r\n'],
  ['keeps its half open after a refusal', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  [
    'upgrades without a token and never ends',
    'GET /ws HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  ],
])('a connection that %s is closed after a few seconds', (_, request) =>
  withHub(async (hub) => {
    const { socket, closed } = await idle(hub);
    socket.write(request);
    const begun = Date.now();
    await closed;
    expect(Date.now() - begun).toBeLessThan(20_000);
  }),
);
