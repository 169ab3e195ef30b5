// Requests to an endpoint other than model calls, and their failures.
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { failureAction } from '../../../src/core/conversation/failureActions.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { findLocalEndpoints, listModels } from '../../../src/models/endpoints.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const json =
  (status: number, body: unknown): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

const html: RequestListener = (_request, response) => response.end('<html>');

test('models are listed by name, with context windows if the endpoint reports them', async () => {
  const keys: (string | undefined)[] = [];
  const models = [
    { id: 'b', context_length: 200_000 },
    { id: 'a', max_model_len: 8192, extra: 1 },
    { id: 'c', context_length: 'x' },
  ];
  const port = await serve((request, response) => {
    keys.push(request.headers.authorization);
    json(request.url === '/v1/models' ? 200 : 404, { data: models })(request, response);
  });
  const listed = await listModels({ baseUrl: `http://127.0.0.1:${port}/v1/` }, 'secret');
  expect(listed).toEqual({
    ok: true,
    value: [{ id: 'a', window: 8192 }, { id: 'b', window: 200_000 }, { id: 'c' }],
  });
  expect(keys).toEqual(['Bearer secret']);
});

test.each([
  [json(401, {}), undefined, 'key_missing', 'Set API Key'],
  [json(401, {}), 'k', 'key_refused', 'set it again'],
  [json(403, {}), 'k', 'key_refused', 'set it again'],
  [json(404, {}), 'k', 'no_list', '/v1'],
  [json(500, {}), 'k', 'refused', 'later'],
  [json(200, { models: [] }), 'k', 'no_list', '/v1'],
  [html, 'k', 'no_list', '/v1'],
])('a failure has a next step', async (listener, key, code, step) => {
  const port = await serve(listener);
  expect(await listModels({ baseUrl: `http://127.0.0.1:${port}/v1` }, key)).toMatchObject({
    ok: false,
    failure: { code, nextStep: expect.stringContaining(step) as string },
  });
});

test.each([
  [
    401,
    { error: { message: 'Incorrect API key provided: right-secret.' } },
    'key_refused',
    'Incorrect API key provided',
  ],
  [402, { error: { message: 'Insufficient credits. Add more.', code: 402 } }, 'no_quota', 'Insufficient credits.'],
  [403, { error: 'Listing models is disabled' }, 'key_refused', 'Listing models is disabled'],
  [404, { detail: 'Not Found here' }, 'no_list', 'Not Found here'],
  [429, { message: 'Slow down, please' }, 'rate_limited', 'Slow down, please'],
  [500, { error: { message: 'a\nb' } }, 'refused', 'a b'],
])('a list that is refused with %d quotes the server, without the key', async (status, body, code, said) => {
  const port = await serve(json(status, body));
  const listed = await listModels({ baseUrl: `http://127.0.0.1:${port}/v1` }, 'right-secret');
  expect(listed).toMatchObject({ ok: false, failure: { code, message: expect.stringContaining(said) as string } });
  expect(JSON.stringify(listed)).not.toContain('right-secret');
});

test.each([
  ['a page', (_: unknown, response: ServerResponse) => void response.writeHead(502).end('<html><p>Bad gateway</p>')],
  [
    'an endless text',
    (_: unknown, response: ServerResponse) => void response.writeHead(500).end('x'.repeat(1_000_000)),
  ],
])('a refusal with %s is not quoted at length', async (_, listener) => {
  const port = await serve(listener);
  const listed = await listModels({ baseUrl: `http://127.0.0.1:${port}/v1` }, undefined);
  expect(listed).toMatchObject({ ok: false, failure: { code: 'refused' } });
  expect(JSON.stringify(listed).length).toBeLessThan(700);
  expect(JSON.stringify(listed)).not.toContain('<html>');
});

test.each([
  [402, 'no_quota', 'choose_model'],
  [403, 'forbidden', 'set_api_key'],
  [404, 'not_found', 'choose_model'],
])('a request that is refused with %d quotes the server and has a button that helps', async (status, code, type) => {
  const port = await serve(json(status, { error: { message: 'The sentence of the server.' } }));
  const model = createChatModel({ baseUrl: `http://127.0.0.1:${port}/v1`, model: 'm', apiKey: async () => 'k' });
  const { signal } = new AbortController();
  const parts = await Array.fromAsync(model.stream({ system: '', messages: [], tools: [] }, signal));
  const failed = parts.find((part) => part.type === 'failed');
  expect(failed?.failure).toMatchObject({
    code,
    message: expect.stringContaining('The sentence of the server.') as string,
  });
  expect(failed?.retry).toBeUndefined();
  expect(failed && failureAction(failed.failure).message).toEqual({ type });
});

test('an address without a server fails as unreachable', async () => {
  expect(await listModels({ baseUrl: 'http://127.0.0.1:1/v1' }, undefined)).toMatchObject({
    ok: false,
    failure: { code: 'unreachable' },
  });
});

test.each([
  ['refuses the connection', 'http://127.0.0.1:1/v1', /ECONNREFUSED|refused|bad port/i],
  ['has an unknown name', 'http://no-such-host.invalid/v1', /ENOTFOUND|EAI_AGAIN|not found|getaddrinfo/i],
])(
  'without network a request to an address that %s says so and can be retried with a button',
  async (_, baseUrl, why) => {
    const model = createChatModel({ baseUrl, model: 'm', apiKey: async () => undefined });
    const { signal } = new AbortController();
    const parts = await Array.fromAsync(model.stream({ system: '', messages: [], tools: [] }, signal));
    const failed = parts.find((part) => part.type === 'failed');
    expect(failed).toMatchObject({
      retry: {},
      failure: {
        code: 'unreachable',
        message: expect.stringMatching(why) as string,
        nextStep: expect.stringContaining('its address in the settings') as string,
      },
    });
    expect(failed && failureAction(failed.failure)).toEqual({
      label: 'Retry now',
      message: { type: 'retry' },
    });
  },
);

test('local endpoints are found only where they answer with models', async () => {
  const there = await serve(json(200, { data: [{ id: 'm' }] }));
  const empty = await serve(json(200, { data: [] }));
  const other = await serve(json(404, {}));
  expect(await findLocalEndpoints([there, empty, other, 1])).toEqual([
    { baseUrl: `http://127.0.0.1:${there}/v1`, label: `http://127.0.0.1:${there}/v1`, models: [{ id: 'm' }] },
  ]);
});
