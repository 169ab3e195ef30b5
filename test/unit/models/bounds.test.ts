// Endpoints that never stop sending: each body is read up to its limit, cancelled, reported and not requested again.
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { type ModelPart } from '../../../src/core/ports/ports.ts';
import { createModel } from '../../../src/models/model.ts';
import { StreamAccumulator } from '../../../src/models/chat/chatStream.ts';
import { findLocalEndpoints, listModels } from '../../../src/models/endpoints.ts';
import { type ModelApi } from '../../../src/protocol/event.ts';
import { SseReader } from '../../../src/models/wire/send.ts';

const MIB = 1024 * 1024;
/**
 * The size at which a body ends if nobody cancels it: large enough to be noticed, small enough for a machine if a limit
 * is missing.
 */
const ENOUGH = 200 * MIB;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Flood {
  readonly status?: number;
  readonly type: string;
  readonly head?: string;
  /** The text that is sent repeatedly. */
  readonly piece: string;
  readonly packed?: boolean;
}

/** Starts a server that sends such a body; `sent` counts the bytes before compression. */
async function flood({ status = 200, type, head = '', piece, packed = false }: Flood) {
  const counted = { sent: 0, requests: 0, port: 0 };
  const block = Buffer.from(piece.repeat(Math.ceil(65_536 / piece.length)));
  function* bytes() {
    yield Buffer.from(head);
    for (counted.sent = 0; counted.sent < ENOUGH; counted.sent += block.length) yield block;
  }
  const server = createServer((_request, response: ServerResponse) => {
    counted.requests += 1;
    response.writeHead(status, { 'content-type': type, ...(packed && { 'content-encoding': 'gzip' }) });
    const source = Readable.from(bytes(), { objectMode: false, highWaterMark: 65_536 });
    // Fails once the client has disconnected.
    const sending = packed ? pipeline(source, createGzip({ level: 1 }), response) : pipeline(source, response);
    sending.catch(() => undefined);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  counted.port = (server.address() as AddressInfo).port;
  return counted;
}

async function ask(port: number, api: ModelApi = 'chat'): Promise<ModelPart[]> {
  const model = createModel({
    api,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    model: 'm',
    apiKey: async () => undefined,
  });
  const parts: ModelPart[] = [];
  for await (const part of model.stream({ system: '', messages: [], tools: [] }, new AbortController().signal)) {
    if (part.type !== 'alive') parts.push(part);
  }
  return parts;
}

describe.each([
  [false, 'chat'],
  [true, 'chat'],
  [false, 'responses'],
  [false, 'messages'],
] as const)('an endless body, compressed: %s, %s', (packed, api) => {
  /**
   * What the kernel and both ends may buffer in addition to what was read; compressed bytes in buffers expand a lot.
   */
  const ON_THE_WAY = (packed ? 96 : 24) * MIB;

  test.each([
    ['lines of data without a blank line', { type: 'text/event-stream', piece: 'data: {"choices":[]}\n' }],
    ['empty lines of data without a blank line', { type: 'text/event-stream', piece: 'data:\n' }],
    ['one line of data', { type: 'text/event-stream', head: 'data: ', piece: 'x' }],
    ['bytes that are no stream', { type: 'application/octet-stream', piece: '\u0000' }],
    ['an answer in one piece', { type: 'application/json', head: '{"choices":[{"message":{"content":"', piece: 'x' }],
  ] satisfies [string, Flood][])('%s is cancelled and reported as too large', async (_name, body) => {
    const server = await flood({ ...body, packed });
    const parts = await ask(server.port, api);
    expect(parts).toMatchObject([
      { type: 'failed', failure: { code: 'answer_too_large', message: expect.stringContaining('16 MiB') as unknown } },
    ]);
    expect(parts[0]).not.toHaveProperty('retry');
    expect(server).toMatchObject({ requests: 1 });
    expect(server.sent).toBeLessThan(16 * MIB + ON_THE_WAY);
  });

  test.each([400, 401, 503])('of an error with status %i is cut, and the status is explained', async (status) => {
    const server = await flood({
      status,
      type: 'application/json',
      head: '{"error":{"message":"',
      piece: 'no ',
      packed,
    });
    const parts = await ask(server.port, api);
    const [part] = parts;
    expect(part?.type).toBe('failed');
    const message = part?.type === 'failed' ? part.failure.message : '';
    expect(message).toContain('"message":"no no');
    expect(message.length).toBeLessThan(5000);
    expect(server.sent).toBeLessThan(ON_THE_WAY);
  });

  test('of an HTML page is not read', async () => {
    const server = await flood({ type: 'text/html', piece: '<br>', packed });
    expect(await ask(server.port, api)).toMatchObject([{ type: 'failed', failure: { code: 'no_stream' } }]);
    expect(server.sent).toBeLessThan(ON_THE_WAY);
  });

  test('of a list of models is cancelled and reported as too large', async () => {
    const server = await flood({ type: 'application/json', head: '{"data":[', piece: '{"id":"a"},', packed });
    expect(await listModels({ baseUrl: `http://127.0.0.1:${server.port}/v1` }, undefined)).toMatchObject({
      ok: false,
      failure: { code: 'list_too_large', message: expect.stringContaining('8 MiB') as unknown },
    });
    expect(server.sent).toBeLessThan(8 * MIB + ON_THE_WAY);
  });

  test('of a rejected list of models is not read', async () => {
    const server = await flood({ status: 401, type: 'application/json', piece: ' ', packed });
    expect(await listModels({ baseUrl: `http://127.0.0.1:${server.port}/v1` }, undefined)).toMatchObject({
      failure: { code: 'key_missing' },
    });
    expect(server.sent).toBeLessThan(ON_THE_WAY);
  });

  test('of a local server is not an endpoint', async () => {
    const server = await flood({ type: 'application/json', piece: ' ', packed });
    expect(await findLocalEndpoints([server.port])).toEqual([]);
    expect(server.sent).toBeLessThan(8 * MIB + ON_THE_WAY);
  });
});

test('an endless answer of many events is limited as a whole', async () => {
  const server = await flood({ type: 'text/event-stream', piece: `: ${'alive '.repeat(200)}\n\n` });
  expect(await ask(server.port)).toMatchObject([{ failure: { code: 'answer_too_large' } }]);
});

test('endless calls and endless ids are too large', () => {
  const feed = (call: (index: number) => object) => {
    const accumulator = new StreamAccumulator({ provider: 'http://a', model: 'm', contextWindow: 128_000 });
    for (let index = 0; index < 100_000; index += 1)
      accumulator.take({ choices: [{ delta: { tool_calls: [call(index)] } }] });
  };
  expect(() => feed((index) => ({ id: `call ${index}`, function: { name: 'look' } }))).toThrow(/1,000 tool calls/);
  expect(() => feed(() => ({ id: 'x'.repeat(20_000) }))).toThrow(/id or name/);
  expect(() => feed(() => ({ function: { name: 'x'.repeat(20_000) } }))).toThrow(/id or name/);
});

test('an event of just under 16 MiB is read, no matter how it is divided into lines and chunks', () => {
  for (const length of [6, 200_000]) {
    const reader = new SseReader();
    const line = `data: ${'x'.repeat(length)}\n`;
    const lines = Math.floor((15 * MIB) / line.length);
    const bytes = new TextEncoder().encode(line.repeat(lines));
    for (let at = 0; at < bytes.length; at += 65_536) reader.push(bytes.subarray(at, at + 65_536));
    const [event = ''] = reader.push(new TextEncoder().encode('\n'));
    expect(event.length).toBe(lines * (length + 1) - 1);
  }
});
