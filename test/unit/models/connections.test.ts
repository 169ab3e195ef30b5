// Connections to an endpoint: one whose answer is complete is reused; one that does not end is closed.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Model } from '../../../src/core/ports/ports.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';

const ANSWER = [
  'data: {"choices":[{"index":0,"delta":{"content":"Hello."}}]}\n\n',
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: [DONE]\n\n',
].join('');

let server: Server;
let model: Model;
let connections: number;
/** Responses that have sent their answer but not ended their body. */
let responses: ServerResponse[];

beforeEach(async () => {
  connections = 0;
  responses = [];
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(ANSWER);
    responses.push(response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  model = createChatModel({ baseUrl, model: 'm', apiKey: async () => 'k' });
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Resolves with the response once the whole answer was received. */
async function ask(): Promise<ServerResponse> {
  const parts = await Array.fromAsync(
    model.stream({ system: '', messages: [], tools: [] }, new AbortController().signal),
  );
  expect(parts).toMatchObject([{ type: 'text', text: 'Hello.' }, { type: 'finished' }]);
  const response = responses.at(-1);
  if (response === undefined) throw new Error('nothing was requested');
  return response;
}

test('the end of a body that comes after the answer is read, so that its connection stays open', async () => {
  for (let number = 0; number < 3; number += 1) {
    const response = await ask();
    const { socket } = response;
    response.end();
    await once(response, 'close');
    expect(response.writableFinished).toBe(true);
    expect(socket?.destroyed).toBe(false);
  }
  expect(connections).toBeLessThanOrEqual(3);
});

test('a body that continues after the answer is cancelled', async () => {
  const response = await ask();
  const piece = Buffer.alloc(64 * 1024, ':');
  const send = () => {
    if (!response.destroyed) response.write(piece, send);
  };
  send();
  await once(response, 'close');
  expect(response.writableFinished).toBe(false);
});

test('a body that never ends is cancelled after a while, and nobody waits for it', async () => {
  const response = await ask();
  await once(response, 'close');
  expect(response.writableFinished).toBe(false);
});
