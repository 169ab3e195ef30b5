// Complete request bodies for each kind of endpoint, and what is learnt from rejections.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ModelPart, type ModelRequest } from '../../../src/core/ports/ports.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { createEndpointMemory, type EndpointMemory, openEndpointMemory } from '../../../src/models/endpointMemory.ts';
import { CAREFUL, type EndpointProfile, shippedProfile } from '../../../src/models/profile.ts';
import { realFileSystem } from '../../../src/node/files/fileSystem.ts';
import { type Refusal, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

const FULL: EndpointProfile = {
  systemRole: 'developer',
  midSystem: false,
  midTools: false,
  toolContent: 'parts',
  userAfterTool: true,
  queuedInside: false,
  alternation: 'free',
  singleCalls: false,
  reasoning: 'same-field',
  signatures: false,
  ids: 'any',
  limitField: 'max_tokens',
};

const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };

/** A block on a tool's result followed by a user message, two user messages in a row, an answer in two pieces. */
const request: ModelRequest = {
  system: 'Be good.',
  messages: [
    { role: 'user', content: 'First.' },
    { role: 'assistant', content: '', calls: [{ id: 'a', name: 'look', arguments: '{}' }] },
    { role: 'tool', call: 'a', content: 'seen', block: { format: 'xml', text: '<notifications/>' } },
    { role: 'user', content: 'Stop that.' },
    { role: 'assistant', content: 'Half', calls: [] },
    { role: 'assistant', content: 'whole', calls: [{ id: 'b', name: 'look', arguments: '{}' }] },
    { role: 'tool', call: 'b', content: 'seen again' },
    { role: 'assistant', content: 'Done.', calls: [] },
    { role: 'user', content: 'Second.', block: { format: 'xml', text: '<notifications/>' } },
    { role: 'user', content: 'Third.' },
  ],
  tools: [tool],
};

const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
const rest = {
  model: 'm',
  tools: [{ type: 'function', function: tool }],
  stream: true,
  stream_options: { include_usage: true },
};

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.stop());

async function received(memory: EndpointMemory, asked = request, options = {}): Promise<ModelPart[]> {
  const model = createChatModel({ baseUrl: server.baseUrl, model: 'm', options, memory, apiKey: async () => 'k' });
  return Array.fromAsync(model.stream(asked, new AbortController().signal));
}

function bodies(): (Body & Record<string, unknown>)[] {
  return server.requests.map(({ body }) => JSON.parse(body) as Body & Record<string, unknown>);
}

function knowing(profile: EndpointProfile): EndpointMemory {
  return createEndpointMemory(new Map([[`${server.baseUrl} m`, { profile, without: [] }]]));
}

const common = {
  first: { role: 'user', content: 'First.' },
  looked: { role: 'assistant', content: '', tool_calls: [call('a')] },
  halves: { role: 'assistant', content: 'Half\n\nwhole', tool_calls: [call('b')] },
  again: { role: 'tool', tool_call_id: 'b', content: 'seen again' },
  done: { role: 'assistant', content: 'Done.' },
  second: { role: 'user', content: '<notifications/>\n\nSecond.' },
  third: { role: 'user', content: 'Third.' },
  last: { role: 'user', content: '<notifications/>\n\nSecond.\n\nThird.' },
  joined: { role: 'tool', tool_call_id: 'a', content: 'seen\n\n<notifications/>' },
  stop: { role: 'user', content: 'Stop that.' },
  bridge: { role: 'assistant', content: 'I have the result.' },
};

const developer = { role: 'developer', content: 'Be good.' };
const system = { role: 'system', content: 'Be good.' };
const apart = {
  role: 'tool',
  tool_call_id: 'a',
  content: [
    { type: 'text', text: 'seen' },
    { type: 'text', text: '<notifications/>' },
  ],
};
const { first, looked, joined, bridge, stop, halves, again, done, second, third, last } = common;
const fullMessages = [developer, first, looked, apart, stop, halves, again, done, second, third];

describe('the whole body', () => {
  test('for an endpoint that accepts everything', async () => {
    server.script({ text: ['ok'] });
    await received(knowing(FULL));
    expect(bodies()).toEqual([{ ...rest, messages: fullMessages }]);
  });

  test('for the most careful profile', async () => {
    server.script({ text: ['ok'] });
    await received(knowing(CAREFUL));
    expect(bodies()).toEqual([
      { ...rest, messages: [system, first, looked, joined, bridge, stop, halves, again, done, last] },
    ]);
  });

  test('with the options of the model', async () => {
    server.script({ text: ['ok'] });
    await received(
      knowing(FULL),
      { system: 's', messages: [], tools: [], schema: { type: 'object' } },
      {
        temperature: 0.2,
        reasoningEffort: 'low',
        maxTokens: 50,
      },
    );
    expect(bodies()).toEqual([
      {
        model: 'm',
        messages: [{ role: 'developer', content: 's' }],
        temperature: 0.2,
        reasoning_effort: 'low',
        max_tokens: 50,
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
        stream: true,
        stream_options: { include_usage: true },
      },
    ]);
  });
});

type Rule = (body: Body) => Refusal | undefined;
const refusal = (message: string, status = 400): Refusal => ({ status, message });
const at = (body: Body, index: number) => body.messages[index]?.role;

/** Servers by what they refuse, with their own error messages. */
const SERVERS: readonly [string, Rule, Partial<EndpointProfile>, readonly object[]][] = [
  [
    'refuses `user` after `tool`, as Mistral does',
    (body) =>
      body.messages.some((message, index) => message.role === 'user' && at(body, index - 1) === 'tool')
        ? refusal("Unexpected role 'user' after role 'tool'")
        : undefined,
    { userAfterTool: false },
    [developer, first, looked, apart, bridge, stop, halves, again, done, second, third],
  ],
  [
    'refuses content parts',
    (body) =>
      body.messages.some(({ role, content }) => role === 'tool' && Array.isArray(content))
        ? refusal('messages[3].content: Input should be a valid string', 422)
        : undefined,
    { toolContent: 'text' },
    [developer, first, looked, joined, stop, halves, again, done, second, third],
  ],
  [
    'has no `developer`',
    (body) =>
      body.messages.some(({ role }) => role === 'developer')
        ? refusal("'developer' is not one of ['system', 'assistant', 'user', 'tool'] - 'messages.0.role'")
        : undefined,
    { systemRole: 'system' },
    [system, first, looked, apart, stop, halves, again, done, second, third],
  ],
  [
    'wants strict alternation, and says so with 500, as a template does',
    (body) =>
      body.messages.some((message, index) => message.role === 'user' && at(body, index - 1) === 'tool')
        ? refusal('Conversation roles must alternate user/assistant/user/assistant/...', 500)
        : undefined,
    { alternation: 'strict' },
    [developer, first, looked, apart, bridge, stop, halves, again, done, last],
  ],
];

describe('an endpoint that', () => {
  test.each(SERVERS)('%s is learnt after one rejection and remembered', async (_name, rule, learnt, messages) => {
    server.refuseIf((body) => rule(body as unknown as Body));
    server.script({ text: ['ok'] }, { text: ['ok'] });
    const memory = knowing(FULL);
    const expected = { ...FULL, ...learnt };
    expect((await received(memory)).at(-1)).toMatchObject({ type: 'finished' });
    await received(memory);
    const understood = { ...rest, messages };
    expect(bodies()).toEqual([{ ...rest, messages: fullMessages }, understood, understood]);
    expect(memory.get(server.baseUrl, 'm').profile).toEqual(expected);
  });

  test('rejects without a hint is tried once with the careful profile', async () => {
    server.refuseIf((body) => (JSON.stringify(body).includes('developer') ? refusal('Bad Request') : undefined));
    server.script({ text: ['ok'] });
    const memory = knowing(FULL);
    expect((await received(memory)).at(-1)).toMatchObject({ type: 'finished' });
    expect(server.requests).toHaveLength(2);
    expect(memory.get(server.baseUrl, 'm').profile).toEqual(CAREFUL);
  });

  test('rejects everything is reported with its first message, and nothing is learnt', async () => {
    let count = 0;
    server.refuseIf(() => refusal(`refusal ${++count}`));
    const memory = knowing(FULL);
    expect(await received(memory)).toEqual([
      {
        type: 'failed',
        failure: expect.objectContaining({
          code: 'bad_request',
          message: expect.stringContaining('refusal 1') as string,
        }) as object,
      },
    ]);
    expect(memory.get(server.baseUrl, 'm').profile).toEqual(FULL);
  });

  test('rejects a parameter is called without it from then on', async () => {
    server.refuseIf((body) =>
      'response_format' in body ? refusal('response_format json_schema is not supported') : undefined,
    );
    server.script({ text: ['{}'] }, { text: ['{}'] });
    const memory = knowing(FULL);
    const asked = { ...request, schema: { type: 'object' } };
    await received(memory, asked);
    await received(memory, asked);
    expect(bodies().map((body) => 'response_format' in body)).toEqual([true, false, false]);
  });
});

describe('a learnt profile', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'earshot-endpoints-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test('is available in the next window', async () => {
    const open = () => openEndpointMemory({ files: realFileSystem, folder, logger: recordingLogger([]) });
    await (await open()).learn('http://a/v1', 'm', { profile: CAREFUL, without: ['stream_options'] });
    expect((await open()).get('http://a/v1', 'm')).toEqual({ profile: CAREFUL, without: ['stream_options'] });
    expect((await open()).get('http://a/v1', 'other').profile).toEqual(shippedProfile('http://a/v1'));
  });

  test('of Responses and Messages is stored with the others, and files of earlier versions are read', async () => {
    const open = () => openEndpointMemory({ files: realFileSystem, folder, logger: recordingLogger([]) });
    const before = {
      profile: {
        systemRole: 'system',
        midSystem: false,
        midTools: false,
        toolContent: 'text',
        userAfterTool: false,
        alternation: 'strict',
      },
      without: ['stream_options', 'image_url'],
    };
    await writeFile(join(folder, 'endpoints.json'), JSON.stringify({ v: 1, endpoints: { 'http://a/v1 m': before } }));
    const memory = await open();
    expect(memory.get('http://a/v1', 'm').without).toEqual(before.without);
    const { profile } = memory.get('https://api.anthropic.com', 'claude-sonnet-5-5');
    await memory.learn('https://api.anthropic.com', 'claude-sonnet-5-5', { profile, without: ['system_messages'] });
    expect((await open()).get('https://api.anthropic.com', 'claude-sonnet-5-5').without).toEqual(['system_messages']);
    expect((await open()).get('http://a/v1', 'm').profile).toMatchObject(before.profile);
  });

  test('is learnt again if its file is damaged', async () => {
    await writeFile(join(folder, 'endpoints.json'), '{"v":1,"endpoints":{"x":7}}');
    const memory = await openEndpointMemory({ files: realFileSystem, folder, logger: recordingLogger([]) });
    expect(memory.get('http://a/v1', 'm').profile).toEqual(shippedProfile('http://a/v1'));
    await memory.learn('http://a/v1', 'm', { profile: CAREFUL, without: [] });
    expect(await readFile(join(folder, 'endpoints.json'), 'utf8')).toContain('"alternation":"strict"');
  });
});

test.each([
  ['https://api.openai.com/v1', { systemRole: 'developer', toolContent: 'parts' }],
  ['https://api.mistral.ai/v1', { userAfterTool: false, midSystem: false }],
  ['http://127.0.0.1:11434/v1', { systemRole: 'system', toolContent: 'text' }],
  ['https://openai.com.evil.example/v1', { systemRole: 'system', toolContent: 'text' }],
])('%s has its profile', (baseUrl, expected) => {
  expect(shippedProfile(baseUrl)).toMatchObject(expected);
});
