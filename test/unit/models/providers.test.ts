// Providers of the settings: how references name them, which keys they get, and what their entries may contain.
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createConfiguredModels } from '../../../src/models/configuredModels.ts';
import { listModels } from '../../../src/models/endpoints.ts';
import { KnownModels } from '../../../src/models/facts/modelFacts.ts';
import { environmentKey, findModel, freeId, PRESETS, presetOfKey, providersIn } from '../../../src/models/providers.ts';
import { readScopedSettings } from '../../../src/protocol/settingRules.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { createApiKeys } from '../../../src/vscode/models/secrets.ts';
import { atTestEnd } from '../../support/endings.ts';
import { messagesEvents } from '../../support/models/native/messagesEvents.ts';
import { startNativeEndpoint } from '../../support/models/native/nativeEndpoint.ts';
import { toSse } from '../../support/models/native/responsesEvents.ts';
import { startScriptedServer } from '../../support/models/scriptedServer.ts';

const settingsOf = (values: Readonly<Record<string, unknown>>) => readSettings((name) => values[name]).settings;
const work = { baseUrl: 'https://models.example/v1', headers: { 'x-team': 'tea' }, models: ['m'] };

test('a reference names a configured provider first; every other name belongs to the endpoint of earshot.baseUrl', () => {
  const settings = settingsOf({ baseUrl: 'https://openrouter.ai/api/v1', providers: { work, anthropic: work } });
  expect(findModel(settings, 'work/a/b')).toMatchObject({ provider: { id: 'work' }, model: 'a/b' });
  expect(findModel(settings, 'openai/gpt-6')).toMatchObject({ provider: { id: '' }, model: 'openai/gpt-6' });
  expect(findModel(settings, 'work/')).toMatchObject({ provider: { id: '' }, model: 'work/' });
  expect(findModel(settingsOf({ providers: { work } }), 'gone/m')).toBeUndefined();
  expect(findModel(settings, 'constructor/m')).toMatchObject({ provider: { id: '' } });
});

test('an API is chosen by the host unless the entry names one', () => {
  const api = (baseUrl: string, named?: string) =>
    providersIn(settingsOf({ providers: { one: { baseUrl, ...(named && { api: named }) } } }))[0]?.api;
  expect(api('https://api.anthropic.com/v1')).toBe('messages');
  expect(api('https://api.openai.com/v1')).toBe('responses');
  expect(api('https://models.example/v1')).toBe('chat');
  expect(api('https://models.example/v1', 'messages')).toBe('messages');
});

test('an entry with odd values is refused as a whole, and says where', () => {
  const problem = (entry: object, id = 'one') =>
    readSettings((name) => (name === 'providers' ? { [id]: entry } : undefined)).problems[0]?.message;
  const baseUrl = 'https://models.example/v1';
  expect(problem({ baseUrl })).toBeUndefined();
  expect(problem({ baseUrl: 'file:///etc/passwd' })).toContain('one.baseUrl');
  expect(problem({ baseUrl }, 'a/b')).toContain('a/b');
  expect(problem({ baseUrl }, 'vscode:x')).toContain('vscode:x');
  for (const name of ['Host', 'content-length', 'Cookie', 'transfer-encoding', 'a b', ''])
    expect(problem({ baseUrl, headers: { [name]: 'x' } })).toContain('headers');
  expect(problem({ baseUrl, headers: { 'x-a': 'one\r\nauthorization: Bearer stolen' } })).toContain('headers.x-a');
  expect(problem({ baseUrl, api: 'soap' })).toContain('one.api');
  expect(problem({ baseUrl, models: [''] })).toContain('one.models');
  expect(problem({ baseUrl, key: 'sk-ant-secret' })).not.toContain('secret');
});

test('a workspace cannot add, change or redirect a provider, and can lower the mode for all conversations', () => {
  const values: Readonly<Record<string, unknown>> = {
    providers: { work: { baseUrl: 'https://attacker.example/v1' } },
    mode: 'plan',
  };
  const { settings, ignored, limits } = readScopedSettings((name) => ({
    user: name === 'providers' ? { work } : undefined,
    workspace: values[name],
  }));
  expect(settings.providers).toEqual({ work });
  expect(ignored).toEqual(['earshot.providers']);
  expect(limits).toEqual({ mode: 'plan' });
});

test('an id for a new entry is that of the preset, and hides neither a provider nor a model of earshot.baseUrl', () => {
  const at = 'https://api.openai.com/v1';
  expect(freeId(settingsOf({}), at)).toBe('openai');
  expect(freeId(settingsOf({ providers: { openai: work } }), at)).toBe('openai-2');
  expect(freeId(settingsOf({ model: 'openai/gpt-6' }), at)).toBe('openai-2');
  expect(freeId(settingsOf({}), 'http://127.0.0.1:11434/v1')).toBe('ollama');
  expect(freeId(settingsOf({}), 'http://[::1]:9000/v1')).toMatch(/^[A-Za-z0-9.-]+$/);
});

test('presets have distinct ids and hosts, and keys are recognized by their form', () => {
  expect(PRESETS.length).toBeGreaterThanOrEqual(20);
  expect(new Set(PRESETS.map(({ id }) => id)).size).toBe(PRESETS.length);
  expect(new Set(PRESETS.map(({ baseUrl }) => new URL(baseUrl).host)).size).toBe(PRESETS.length);
  expect(presetOfKey('sk-ant-api03-abc')?.id).toBe('anthropic');
  expect(presetOfKey(`AIza${'x'.repeat(35)}`)?.id).toBe('google');
  expect(presetOfKey('sk-or-v1-abc')?.id).toBe('openrouter');
  expect(presetOfKey('sk-proj-abc')?.id).toBe('openai');
  expect(presetOfKey('sk-0123456789abcdef')).toBeUndefined();
  expect(presetOfKey('')).toBeUndefined();
});

test('a key of the environment goes only to its own provider', () => {
  const env = { EARSHOT_API_KEY: 'general', EARSHOT_API_KEY_WORK_2: 'work', ANTHROPIC_API_KEY: 'claude' };
  const key = (id: string, baseUrl: string) => environmentKey({ id, baseUrl }, env);
  expect(key('', 'https://models.example/v1')).toBe('general');
  expect(key('work-2', 'https://models.example/v1')).toBe('work');
  expect(key('other', 'https://models.example/v1')).toBeUndefined();
  expect(key('anthropic', 'https://api.anthropic.com/v1')).toBe('claude');
  expect(key('anthropic', 'https://api.anthropic.com.attacker.example/v1')).toBeUndefined();
  expect(key('anthropic', 'http://api.anthropic.com/v1')).toBeUndefined();
});

test('a stored key stays with its origin, also if the entry of its provider names another one later', async () => {
  const stored = new Map<string, string>();
  const keys = createApiKeys({
    get: async (name) => stored.get(name),
    store: async (name, value) => void stored.set(name, value),
    delete: async (name) => void stored.delete(name),
  });
  await keys.set({ id: 'work', baseUrl: 'https://models.example/v1' }, 'one');
  await keys.set({ id: '', baseUrl: 'https://models.example/v2' }, 'origin');
  expect(await keys.get({ id: 'work', baseUrl: 'https://models.example/v1' })).toBe('one');
  expect(await keys.get({ id: 'home', baseUrl: 'https://models.example/v1' })).toBe('origin');
  expect(await keys.get({ id: 'work', baseUrl: 'https://attacker.example/v1' })).toBeUndefined();
  await keys.set({ id: 'work', baseUrl: 'https://models.example/v1' }, '');
  expect(stored.size).toBe(0);
});

test('models of two providers are used at once, each with its own key', async () => {
  const servers = [await startScriptedServer({ text: ['One.'] }), await startScriptedServer({ text: ['Two.'] })];
  atTestEnd(() => Promise.all(servers.map((server) => server.stop())).then(() => undefined));
  const [one, two] = servers.map(({ baseUrl }) => ({ baseUrl }));
  const settings = settingsOf({ providers: { one, two }, models: { m: { contextWindow: 5000 } } });
  const get = createConfiguredModels({
    settings: () => settings,
    known: new KnownModels({ path: '/nowhere', logger: { warn: () => undefined } }),
    key: async ({ id }) => `key-of-${id}`,
  });
  for (const id of ['one', 'two']) {
    const model = get(`${id}/m`);
    expect(model).toMatchObject({ id: `${id}/m`, contextWindow: 5000 });
    expect(model).toBe(get(`${id}/m`));
    const request = { system: '', messages: [{ role: 'user', content: 'Hello.' }] as const, tools: [] };
    await Array.fromAsync(model?.stream(request, AbortSignal.timeout(10_000)) ?? []);
  }
  expect(servers.map(({ requests }) => requests.map(({ headers }) => headers.authorization))).toEqual([
    ['Bearer key-of-one'],
    ['Bearer key-of-two'],
  ]);
  expect(JSON.parse(servers[0]?.requests[0]?.body ?? '')).toMatchObject({ model: 'm' });
});

test.each(['chat', 'responses', 'messages'] as const)(
  'a redirect takes neither key nor headers to another host (%s)',
  async (api) => {
    const received: unknown[] = [];
    const other = createServer((request, response) => {
      received.push(request.headers);
      response.end('{}');
    });
    const endpoint = createServer((_request, response) => {
      response.writeHead(307, { location: `http://localhost:${portOf(other)}/v1/models` }).end();
    });
    for (const server of [other, endpoint]) {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      atTestEnd(() => new Promise((resolve) => server.close(() => resolve())));
    }
    const settings = settingsOf({
      providers: { one: { baseUrl: `http://127.0.0.1:${portOf(endpoint)}/v1`, api, headers: { 'x-secret': 's' } } },
    });
    const get = createConfiguredModels({
      settings: () => settings,
      known: new KnownModels({ path: '/nowhere', logger: { warn: () => undefined } }),
      key: async () => 'the-key',
    });
    const request = { system: '', messages: [{ role: 'user', content: 'Hello.' }] as const, tools: [] };
    const parts = await Array.fromAsync(get('one/m')?.stream(request, AbortSignal.timeout(10_000)) ?? []);
    expect(parts.at(-1)).toMatchObject({ type: 'failed' });
    const [provider] = providersIn(settings);
    expect(provider && (await listModels(provider, 'the-key'))).toMatchObject({ ok: false });
    expect(received).toEqual([]);
  },
);

test('what an endpoint has dropped of a request is in the log of the window', async () => {
  const dropped = { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' };
  const sse = toSse(messagesEvents({ content: [{ type: 'text', text: 'Hi.' }], transformations: [dropped] }));
  const { address: baseUrl } = await startNativeEndpoint({ title: '', reply: () => ({ sse }) });
  const settings = settingsOf({ providers: { claude: { baseUrl, api: 'messages' } } });
  const logged: string[] = [];
  const get = createConfiguredModels({
    settings: () => settings,
    known: new KnownModels({ path: '/nowhere', logger: { warn: () => undefined } }),
    logger: { info: (message) => void logged.push(message) },
    key: async () => 'k',
  });
  const request = { system: '', messages: [{ role: 'user', content: 'Hello.' }] as const, tools: [] };
  await Array.fromAsync(get('claude/claude-opus-5-5')?.stream(request, AbortSignal.timeout(10_000)) ?? []);
  expect(logged).toEqual([expect.stringContaining('prefix_binding_mismatch')]);
});

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

test('a Claude model behind another host has its efforts, although the shipped facts do not know that host', () => {
  const house = { baseUrl: 'https://gateway.example/v1', api: 'messages' };
  const get = createConfiguredModels({
    settings: () => settingsOf({ providers: { house } }),
    known: new KnownModels({ path: '/nowhere', logger: { warn: () => undefined } }),
    key: async () => 'k',
  });
  expect(get('house/claude-opus-5-5')?.efforts).toEqual(['low', 'medium', 'high', 'xhigh', 'max']);
  expect(get('house/other')?.efforts).toBeUndefined();
});
