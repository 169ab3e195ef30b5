// The windows of servers near by, as Ollama, llama.cpp and LM Studio say them in their own APIs, and what the model then
// knows. Other servers get no request that could mean something to them.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ModelPart } from '../../../src/core/ports/ports.ts';
import { createConfiguredModels, noteLists } from '../../../src/models/configuredModels.ts';
import { KnownModels } from '../../../src/models/facts/modelFacts.ts';
import { isNear, readServed } from '../../../src/models/servedWindow.ts';
import { readSettings } from '../../../src/protocol/settings.ts';

const servers: Server[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Answers = Readonly<Record<string, unknown>>;

/** Answers by method and path; functions are called with the request. */
async function serve(answers: Answers) {
  const requests: { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: string }[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const line = `${request.method} ${request.url}`;
      requests.push({ line, headers: request.headers, body: Buffer.concat(pieces).toString() });
      const given = answers[line];
      const answer: unknown = typeof given === 'function' ? (given as () => unknown)() : given;
      if (answer === 'never') return;
      response.writeHead(answer === undefined ? 404 : 200);
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer ?? {}));
    });
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

const show = (more: object = {}) => ({
  model_info: { 'qwen3.context_length': 40_960 },
  capabilities: ['tools'],
  ...more,
});
const OLLAMA = { 'GET /api/ps': { models: [] }, 'POST /api/show': show() };
const data = (more: object) => ({
  data: [
    { id: 'other', max_context_length: 5 },
    { id: 'm', ...more },
  ],
});

describe('the window that is served', () => {
  const loaded = (name: string) => ({ models: [{ name, context_length: 4096 }] });
  test.each<[string, Answers, object]>([
    ['Ollama, trained', OLLAMA, { window: 40_960, images: false }],
    [
      'Ollama, num_ctx',
      { ...OLLAMA, 'POST /api/show': show({ parameters: 'stop "a"\nnum_ctx    8192\n' }) },
      { window: 8192, images: false },
    ],
    ['Ollama, loaded', { ...OLLAMA, 'GET /api/ps': loaded('m:latest') }, { window: 4096, images: false }],
    ['Ollama, another is loaded', { ...OLLAMA, 'GET /api/ps': loaded('n') }, { window: 40_960, images: false }],
    [
      'Ollama, vision',
      { ...OLLAMA, 'POST /api/show': show({ capabilities: ['vision'] }) },
      { window: 40_960, images: true },
    ],
    [
      'llama.cpp',
      { 'GET /props': { default_generation_settings: { n_ctx: 16_384 }, modalities: { vision: true } } },
      { window: 16_384, images: true },
    ],
    [
      'LM Studio, loaded',
      { 'GET /api/v0/models': data({ type: 'llm', max_context_length: 32_768, loaded_context_length: 4096 }) },
      { window: 4096, images: false },
    ],
    [
      'LM Studio, not loaded',
      { 'GET /api/v0/models': data({ type: 'vlm', max_context_length: 32_768 }) },
      { window: 32_768, images: true },
    ],
    [
      'numbers of a wrong type',
      {
        'GET /props': { default_generation_settings: { n_ctx: '16384' } },
        'GET /api/v0/models': data({ max_context_length: -1 }),
      },
      {},
    ],
    ['no JSON', { 'GET /props': '<html>', 'GET /api/v0/models': '{', 'GET /api/ps': '[' }, {}],
    ['nothing', {}, {}],
  ])('%s', async (_name, answers, expected) => {
    const { baseUrl, requests } = await serve(answers);
    expect(await readServed({ baseUrl, headers: { 'x-team': 'tea' } }, 'm', 'key')).toEqual(expected);
    // Nothing is posted to a server that is not Ollama.
    const posted = requests.filter(({ line }) => line.startsWith('POST'));
    expect(posted.map(({ line, body }) => [line, body])).toEqual(
      _name.startsWith('Ollama') ? [['POST /api/show', '{"model":"m"}']] : [],
    );
    for (const { headers } of requests) {
      expect(headers).toMatchObject({ authorization: 'Bearer key', 'x-team': 'tea' });
      expect(headers).not.toHaveProperty('cookie');
    }
  });

  test('a server that does not answer is not waited for, and too much is not read', async () => {
    const { baseUrl } = await serve({ 'GET /props': 'never', 'GET /api/ps': 'x'.repeat(9 * 1024 * 1024) });
    const before = performance.now();
    expect(await readServed({ baseUrl }, 'm', undefined)).toEqual({});
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  test('only addresses of this machine and its network are asked', async () => {
    const asked: string[] = [];
    vi.stubGlobal('fetch', async (url: string) => {
      asked.push(url);
      throw new Error('no network');
    });
    for (const host of ['api.openai.com', '127.0.0.1.example.com', '8.8.8.8', '172.32.0.1', 'localhost.example']) {
      expect(isNear(`http://${host}:11434/v1`)).toBe(false);
      expect(await readServed({ baseUrl: `http://${host}:11434/v1` }, 'm', 'k')).toEqual({});
    }
    expect(asked).toEqual([]);
    for (const host of ['localhost', '127.0.0.1', '[::1]', '192.168.1.4', '10.0.0.1', '172.16.0.1', 'box.local'])
      expect(isNear(`http://${host}:11434/v1`)).toBe(true);
  });
});

/** A model of the settings at this server. */
function configured(baseUrl: string, options: object = {}) {
  const given: Readonly<Record<string, unknown>> = { providers: { here: { baseUrl } }, models: { 'here/m': options } };
  const { settings } = readSettings((name) => given[name]);
  const known = new KnownModels({ path: '/nowhere', logger: { warn: () => undefined } });
  const model = createConfiguredModels({ settings: () => settings, known, key: async () => undefined })('here/m');
  if (model === undefined) throw new Error('it is not configured');
  const ask = (): Promise<ModelPart[]> =>
    Array.fromAsync(
      model.stream(
        { system: 's', messages: [{ role: 'user', content: 'Hi.' }], tools: [] },
        new AbortController().signal,
      ),
    );
  return { model, ask };
}

const answer = (content: string, tokens: number, reason = 'stop') => {
  const chunk = {
    choices: [{ index: 0, delta: { content }, finish_reason: reason }],
    usage: { prompt_tokens: tokens },
  };
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
};

test('the first request asks, the second asks again what the server has loaded, and further ones do not', async () => {
  let ps: object = { models: [] };
  const { baseUrl, requests } = await serve({
    ...OLLAMA,
    'GET /api/ps': () => ps,
    'POST /v1/chat/completions': answer('Hello.', 10),
  });
  const { model, ask } = configured(baseUrl);
  expect(model.contextWindow).toBe(128_000);
  await ask();
  expect(model.contextWindow).toBe(40_960);
  ps = { models: [{ name: 'm', context_length: 4096 }] };
  await ask();
  expect(model.contextWindow).toBe(4096);
  const before = requests.length;
  await ask();
  expect(requests.length - before).toBe(1);
});

test('a window of the settings counts, and then nothing is asked', async () => {
  const { baseUrl, requests } = await serve({ ...OLLAMA, 'POST /v1/chat/completions': answer('Hello.', 10) });
  const { model, ask } = configured(baseUrl, { contextWindow: 9000 });
  await ask();
  expect(model.contextWindow).toBe(9000);
  expect(requests).toHaveLength(1);
});

test.each([
  ['an empty answer to more than the window, whatever its reason', answer('', 5000), 'context_overflow'],
  ['no output in a full window', answer('', 4000, 'length'), 'context_overflow'],
  ['an answer to more than the window is an answer', answer('Hello.', 5000), undefined],
  ['no output in a window with room', answer('', 1000, 'length'), undefined],
])('silent overflow: %s', async (_name, said, code) => {
  const props = { default_generation_settings: { n_ctx: 4096 } };
  const { baseUrl } = await serve({ 'GET /props': props, 'POST /v1/chat/completions': said });
  const last = (await configured(baseUrl).ask()).at(-1);
  expect(last?.type === 'failed' ? last.failure.code : undefined).toBe(code);
});

test('the lists of all providers are noted, as far as they answer', async () => {
  const { baseUrl } = await serve({ 'GET /v1/models': { data: [{ id: 'm', max_model_len: 7000 }] } });
  const providers = { here: { baseUrl }, gone: { baseUrl: 'http://127.0.0.1:1/v1' } };
  const { settings } = readSettings((name) => (name === 'providers' ? providers : undefined));
  const known = new KnownModels({ path: '/nowhere', logger: { warn: () => undefined } });
  const deps = { settings: () => settings, known, key: async () => undefined };
  const model = createConfiguredModels(deps)('here/m');
  expect(model?.contextWindow).toBe(128_000);
  await noteLists(deps);
  expect(model?.contextWindow).toBe(7000);
});
