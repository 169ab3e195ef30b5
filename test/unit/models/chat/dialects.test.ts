// Facts about endpoints and models: parameters, verified placement, cache hints, ids, names, and what is learnt.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { type ModelPart, type ModelRequest } from '../../../../src/core/ports/ports.ts';
import { createChatModel, chatForm, toWireMessages } from '../../../../src/models/chat/chatModel.ts';
import { dialectOf } from '../../../../src/models/chat/dialects.ts';
import { createEndpointMemory } from '../../../../src/models/endpointMemory.ts';
import { readImages } from '../../../../src/models/wire/images.ts';
import { CAREFUL } from '../../../../src/models/profile.ts';
import { type Effort, type ModelOptions } from '../../../../src/protocol/settings.ts';
import { type ScriptedServer, startScriptedServer } from '../../../support/models/scriptedServer.ts';
import { redirectHost } from '../../../support/models/vendorHosts.ts';

let server: ScriptedServer;
let end: () => void;
beforeEach(async () => {
  server = await startScriptedServer();
  end = () => undefined;
});
afterEach(async () => {
  end();
  await server.stop();
});

const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };
const asked: ModelRequest = {
  system: 's',
  conversation: 'conv-1',
  messages: [{ role: 'user', content: 'Hi.' }],
  tools: [tool],
};

async function send(
  baseUrl: string,
  model: string,
  request: ModelRequest = asked,
  options: ModelOptions = {},
): Promise<{ parts: ModelPart[]; body: Record<string, unknown>; headers: Record<string, unknown> }> {
  end = redirectHost(baseUrl, server.baseUrl);
  server.script({ text: ['ok'] });
  const chat = createChatModel({ baseUrl, model, options, apiKey: async () => 'k' });
  const parts = await Array.fromAsync(chat.stream(request, new AbortController().signal));
  const { body = '{}', headers = {} } = server.requests.at(-1) ?? {};
  return { parts, body: JSON.parse(body) as Record<string, unknown>, headers };
}

describe('effort', () => {
  const EFFORTS: readonly [string, string, Effort, object][] = [
    ['https://api.openai.com/v1', 'gpt-5.5', 'xhigh', { reasoning_effort: 'xhigh' }],
    ['https://openrouter.ai/api/v1', 'x/y', 'max', { reasoning: { effort: 'xhigh' } }],
    ['https://openrouter.ai/api/v1', 'x/y', 'none', { reasoning: { enabled: false } }],
    [
      'https://api.deepseek.com/v1',
      'deepseek-v4-pro',
      'medium',
      { thinking: { type: 'enabled' }, reasoning_effort: 'low' },
    ],
    ['https://api.deepseek.com/v1', 'deepseek-v4-pro', 'none', { thinking: { type: 'disabled' } }],
    ['https://api.moonshot.ai/v1', 'kimi-k2.6', 'high', { thinking: { type: 'enabled' } }],
    ['https://api.moonshot.ai/v1', 'kimi-k3.1-pro', 'high', { reasoning_effort: 'high' }],
    ['https://api.z.ai/api/paas/v4', 'glm-5.3', 'none', { thinking: { type: 'disabled', clear_thinking: false } }],
    ['https://api.together.xyz/v1', 'm', 'low', { reasoning: { enabled: true } }],
    ['https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'qwen3', 'none', { enable_thinking: false }],
    ['https://api.groq.com/openai/v1', 'm', 'max', { reasoning_effort: 'high' }],
    ['http://local.example:8000/v1', 'm', 'none', { chat_template_kwargs: { enable_thinking: false } }],
    ['https://elsewhere.example/v1', 'm', 'max', { reasoning_effort: 'max' }],
  ];
  const NAMES = ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'chat_template_kwargs'];

  test.each(EFFORTS)('%s %s takes %s as %o', async (baseUrl, model, effort, expected) => {
    const { body } = await send(baseUrl, model, { ...asked, effort }, { reasoningEffort: 'minimal' });
    expect(Object.fromEntries(NAMES.filter((name) => name in body).map((name) => [name, body[name]]))).toEqual(
      expected,
    );
  });

  test('is not sent unless it is chosen; Z.ai is always asked to keep reasoning', async () => {
    for (const [baseUrl, model] of EFFORTS) {
      const { body } = await send(baseUrl, model);
      const sent = NAMES.filter((name) => name in body);
      expect(sent).toEqual(baseUrl.includes('z.ai') ? ['thinking'] : []);
      end();
    }
  });
});

test.each([
  ['https://api.openai.com/v1', 'gpt-5.5', { max_completion_tokens: 5, prompt_cache_key: 'conv-1' }, undefined],
  ['https://api.mistral.ai/v1', 'devstral', { max_tokens: 5, prompt_cache_key: 'conv-1' }, undefined],
  ['https://openrouter.ai/api/v1', 'openai/gpt-6', { max_tokens: 5 }, 'conv-1'],
  ['https://openrouter.ai/api/v1', 'anthropic/claude-opus-5.5', { max_tokens: 5 }, 'conv-1'],
  ['https://elsewhere.example/v1', 'm', { max_tokens: 5 }, undefined],
])('%s %s gets its limit and its cache hint', async (baseUrl, model, expected, session) => {
  const { body, headers } = await send(baseUrl, model, asked, { maxTokens: 5 });
  const names = ['max_tokens', 'max_completion_tokens', 'prompt_cache_key'];
  expect(Object.fromEntries(names.filter((name) => name in body).map((name) => [name, body[name]]))).toEqual(expected);
  expect(headers['x-session-id']).toBe(session);
});

test('Claude behind OpenRouter gets marks on the system prompt and on the last two messages that it did not write', async () => {
  const messages: ModelMessage[] = [
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: '', calls: [{ id: 'a', name: 'look', arguments: '{}' }] },
    { role: 'tool', call: 'a', content: 'seen', block: { format: 'xml', text: '<notification/>' } },
  ];
  const { body } = await send('https://openrouter.ai/api/v1', 'anthropic/claude-opus-5.5', { ...asked, messages });
  const sent = body['messages'] as { content: unknown }[];
  const mark = { cache_control: { type: 'ephemeral' } };
  expect(sent.map(({ content }) => content)).toEqual([
    [{ type: 'text', text: 's', ...mark }],
    [{ type: 'text', text: 'Hi.', ...mark }],
    '',
    [
      { type: 'text', text: 'seen' },
      { type: 'text', text: '<notification/>', ...mark },
    ],
  ]);
});

test.each(['qwen/qwen3-coder', 'alibaba/qwen3.8-max'])(
  '%s behind OpenRouter gets marks on the system prompt and its user’s messages; results stay texts',
  async (model) => {
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: '', calls: [{ id: 'a', name: 'look', arguments: '{}' }] },
      { role: 'tool', call: 'a', content: 'seen' },
      { role: 'assistant', content: 'Seen.', calls: [] },
      { role: 'user', content: 'And?' },
    ];
    const { body } = await send('https://openrouter.ai/api/v1', model, { ...asked, messages });
    const sent = body['messages'] as { content: unknown }[];
    const marked = (text: string) => [{ type: 'text', text, cache_control: { type: 'ephemeral' } }];
    expect(sent.map(({ content }) => content)).toEqual([
      ...[marked('s'), marked('Hi.'), '', 'seen', 'Seen.', marked('And?')],
    ]);
  },
);

test('a form that is learnt is logged, with what it does to the cache', async () => {
  end = redirectHost('https://elsewhere.example/v1', server.baseUrl);
  server.script(
    { refuse: { status: 400, message: 'max_tokens is not supported, use max_completion_tokens' } },
    { text: ['ok'] },
  );
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  const options = { baseUrl: 'https://elsewhere.example/v1', model: 'm', options: { maxTokens: 5 }, log };
  const chat = createChatModel({ ...options, apiKey: async () => 'k' });
  const parts = await Array.fromAsync(chat.stream(asked, new AbortController().signal));
  expect(parts.at(-1)).toMatchObject({ type: 'finished' });
  expect(lines).toEqual([expect.stringMatching(/another form \(.*max_completion_tokens.*cache once/)]);
});

test('an image whose bytes are lost is logged once, because it changes the prefix', async () => {
  const reference = { hash: 'h', mediaType: 'image/png', name: 'cat.png' };
  const messages: ModelMessage[] = [{ role: 'user', content: 'Hi.', images: [reference] }];
  const lines: string[] = [];
  const ask = async (bytes: Uint8Array | undefined) =>
    readImages({ ...asked, messages, image: async () => bytes }, (line) => void lines.push(line));
  await ask(undefined);
  expect(lines).toEqual([]);
  await ask(new Uint8Array([1]));
  await ask(undefined);
  await ask(undefined);
  expect(lines).toEqual([expect.stringContaining('cat.png')]);
});

test('tools that may not be called now are named without changing the list, where the endpoint can', async () => {
  const found = { ...tool, name: 'found_later' };
  const request: ModelRequest = { ...asked, found: [found], allowed: ['look'] };
  const openAi = await send('https://api.openai.com/v1', 'gpt-5.5', request);
  expect(openAi.body['tool_choice']).toEqual({
    type: 'allowed_tools',
    allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'look' } }] },
  });
  const names = (body: Record<string, unknown>) =>
    (body['tools'] as { function: { name: string } }[]).map((one) => one.function.name);
  expect(names(openAi.body)).toEqual(['look', 'found_later']);
  end();
  const other = await send('https://elsewhere.example/v1', 'm', request);
  expect([names(other.body), 'tool_choice' in other.body]).toEqual([['look', 'found_later'], false]);
  end();
  const none = { ...request, allowed: 'none' } as const;
  expect((await send('https://api.openai.com/v1', 'gpt-5.5', none)).body['tool_choice']).toBe('none');
  end();
  // Servers with templates print no tools then, so that nothing of the prefix stays.
  expect((await send('https://elsewhere.example/v1', 'm', none)).body).toEqual(other.body);
});

test.each([
  ['https://api.openai.com/v1', 'gpt-5.4', true],
  ['https://api.openai.com/v1', 'gpt-6.1-sol', true],
  ['https://api.openai.com/v1', 'gpt-5.3-codex', undefined],
  ['https://api.openai.com/v1', 'gpt-5-2025-08-07', undefined],
  ['https://api.openai.com/v1', 'gpt-4o', undefined],
  ['https://api.moonshot.ai/v1', 'kimi-k2.6', true],
  ['https://api.moonshot.ai/v1', 'kimi-k3', true],
  ['https://api.moonshot.ai/v1', 'kimi-k2-0905-preview', undefined],
  ['https://api.deepseek.com/v1', 'deepseek-v4-pro', true],
  ['https://api.deepseek.com/v1', 'deepseek-v4-flash', undefined],
  ['https://self-hosted.example/v1', 'deepseek-v4-pro', undefined],
  ['https://openrouter.ai/api/v1', 'moonshotai/kimi-k3', undefined],
  ['https://api.openai.com.evil.example/v1', 'gpt-6', undefined],
])('%s %s is verified to read system messages inside a conversation: %s', (baseUrl, model, expected) => {
  expect(createChatModel({ baseUrl, model, apiKey: async () => 'k' }).takesHostMessages).toBe(expected);
});

test('a model of Google has the same rules under the name that its list gives it', () => {
  const google = 'https://generativelanguage.googleapis.com/v1beta/openai';
  expect(dialectOf(google, 'models/gemini-3-pro')).toEqual(dialectOf(google, 'gemini-3-pro'));
  expect(dialectOf(google, 'models/gemini-3-pro').profile.signatures).toBe(true);
});

test('late system messages are never learnt: an old file that allows them changes nothing', () => {
  const profile = {
    systemRole: 'system',
    midSystem: true,
    toolContent: 'text',
    userAfterTool: true,
    alternation: 'free',
  } as const;
  const stored = { profile, without: [] };
  const memory = createEndpointMemory(
    new Map([
      ['https://a.example/v1 m', stored],
      ['https://api.deepseek.com/v1 deepseek-v4-pro', stored],
    ]),
  );
  expect(memory.get('https://a.example/v1', 'm').profile).toMatchObject({ midSystem: false, reasoning: 'same-field' });
  expect(memory.get('https://api.deepseek.com/v1', 'deepseek-v4-pro').profile).toMatchObject({
    midSystem: true,
    reasoning: 'always',
  });
});

interface Wire {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

function wire(
  messages: readonly ModelMessage[],
  baseUrl = 'https://elsewhere.example/v1',
  profile = chatForm(baseUrl, 'm').profile,
): Wire[] {
  const request = { system: 's', messages, tools: [] };
  return (toWireMessages(request, chatForm(baseUrl, 'm', profile), new Map()) as Wire[]).slice(1);
}

const called = (id: string, name = 'look', args = '{}'): ModelMessage[] => [
  { role: 'assistant', content: '', calls: [{ id, name, arguments: args }] },
  { role: 'tool', call: id, content: 'seen' },
];

test.each([
  ['https://elsewhere.example/v1', 'functions.look:0', /^functions\.look:0$/],
  ['https://elsewhere.example/v1', 'x'.repeat(90), /^x{51}_[0-9a-f]{12}$/],
  ['https://api.openai.com/v1', 'functions.look:0', /^functions_look_0_[0-9a-f]{12}$/],
  ['https://api.openai.com/v1', 'x'.repeat(90), /^x{27}_[0-9a-f]{12}$/],
  ['https://api.mistral.ai/v1', 'call_1', /^[0-9a-f]{9}$/],
  ['https://api.mistral.ai/v1', 'a1B2c3D4e', /^a1B2c3D4e$/],
])('at %s the id %s becomes %s, for the call and its result', (baseUrl, id, expected) => {
  const [asking, answer] = wire(called(id), baseUrl).slice(-2);
  expect(asking?.tool_calls?.[0]?.id).toMatch(expected);
  expect(answer?.tool_call_id).toBe(asking?.tool_calls?.[0]?.id);
  expect(wire(called(id), baseUrl).slice(-2)).toEqual([asking, answer]);
});

test('names that models invent, invalid arguments and half characters do not block the conversation', () => {
  const [asking] = wire(called('a', 'my tool.v2 ü', '{"a":"\\ud800"'));
  expect(asking?.tool_calls?.[0]?.function).toEqual({
    name: 'my_tool_v2__',
    arguments: JSON.stringify({ invalid_json: '{"a":"\\ud800"' }),
  });
  const [escaped] = wire(called('a', '', '{"a":"\\ud800"}'));
  expect(escaped?.tool_calls?.[0]?.function).toEqual({ name: 'unknown', arguments: '{"a":"\ufffd"}' });
  expect(wire([{ role: 'user', content: 'a\ud800b' }])).toEqual([{ role: 'user', content: 'a\ufffdb' }]);
  expect(wire([{ role: 'assistant', content: '', calls: [] }])).toEqual([]);
});

test('images of results follow all results of the batch, before the user’s words', () => {
  const image = (name: string) => [{ hash: name, mediaType: 'image/png', name }];
  const sent = wire([
    {
      role: 'assistant',
      content: '',
      calls: [
        { id: 'a', name: 'x', arguments: '{}' },
        { id: 'b', name: 'x', arguments: '{}' },
      ],
    },
    { role: 'tool', call: 'a', content: 'one', resultImages: image('r') },
    { role: 'tool', call: 'b', content: 'two', queued: ['Words.'], images: image('u') },
  ]);
  expect(sent.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user', 'user']);
  expect(JSON.stringify(sent[3])).toContain('Images of the tool results above:');
  expect(JSON.stringify(sent[4])).toContain('Words.');
});

test('an endpoint that takes a user’s message nowhere after results gets it in the result', async () => {
  const messages: ModelMessage[] = [
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: '', calls: [{ id: 'a', name: 'look', arguments: '{}' }] },
    { role: 'tool', call: 'a', content: 'seen', queued: ['Words.'] },
  ];
  server.refuseIf((body) => {
    const { role } = (body['messages'] as Wire[]).at(-1) ?? {};
    return role === 'tool' ? undefined : { status: 400, message: 'Bad Request' };
  });
  const { body, parts } = await send(server.baseUrl, 'm', { ...asked, messages });
  expect(parts.at(-1)).toMatchObject({ type: 'finished' });
  expect((body['messages'] as Wire[]).at(-1)).toMatchObject({
    role: 'tool',
    content: expect.stringContaining('Words.') as string,
  });
});

describe('nothing is learnt', () => {
  const memory = createEndpointMemory();
  const refused = async (status: number, message: string, code?: string) => {
    server.refuseIf(() => ({ status, message, ...(code !== undefined && { code }) }));
    const chat = createChatModel({ baseUrl: server.baseUrl, model: 'm', memory, apiKey: async () => 'k' });
    const request = { ...asked, messages: [...called('a'), { role: 'user', content: 'x' } as const] };
    await Array.fromAsync(chat.stream(request, new AbortController().signal));
    return server.requests.length;
  };

  test.each([
    [500, 'Unexpected role: internal error', undefined],
    [503, "Unexpected role 'user' after role 'tool'", undefined],
    [400, 'Your request was flagged by moderation', undefined],
    [400, 'blocked', 'content_filter'],
    [400, "This model's maximum context length is 10 tokens", undefined],
    [400, 'Failed to call a function. Please adjust your prompt.', 'tool_use_failed'],
  ])('from %s “%s”', async (status, message, code) => {
    expect(await refused(status, message, code)).toBe(1);
  });

  test('except from a template’s error with status 500', async () => {
    expect(await refused(500, "Jinja Exception: Unexpected role 'user' after role 'tool'")).toBeGreaterThan(1);
  });
});

test('the most careful profile answers each call of a batch by itself', () => {
  const sent = wire(
    [
      { role: 'user', content: 'Hi.' },
      {
        role: 'assistant',
        content: 'Both.',
        calls: [
          { id: 'a', name: 'x', arguments: '{}' },
          { id: 'b', name: 'x', arguments: '{}' },
        ],
      },
      { role: 'tool', call: 'a', content: 'one' },
      { role: 'tool', call: 'b', content: 'two' },
    ],
    'https://elsewhere.example/v1',
    CAREFUL,
  );
  expect(sent.map(({ role, content, tool_calls: calls }) => [role, content, calls?.map(({ id }) => id)])).toEqual([
    ['user', 'Hi.', undefined],
    ['assistant', 'Both.', ['a']],
    ['tool', 'one', undefined],
    ['assistant', '', ['b']],
    ['tool', 'two', undefined],
  ]);
});
