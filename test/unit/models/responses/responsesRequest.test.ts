// Requests of the Responses API: parameters, found and allowed tools, changed effort, repairs, and refusals by name.
import { afterEach, describe, expect, test } from 'vitest';
import { type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { type ModelPart, type ModelRequest } from '../../../../src/core/ports/ports.ts';
import { createEndpointMemory } from '../../../../src/models/endpointMemory.ts';
import { createModel } from '../../../../src/models/model.ts';
import { type EndpointOptions } from '../../../../src/models/wire/endpoint.ts';
import { endAll } from '../../../support/endings.ts';
import {
  findChangedPrefix,
  type NativeEndpoint,
  type Reply,
  startNativeEndpoint,
} from '../../../support/models/native/nativeEndpoint.ts';
import { reasoningItem, startOpenAi, textItem } from '../../../support/models/native/openaiEndpoint.ts';
import { responsesBody } from '../../../support/models/native/printedRequests.ts';
import { responsesEvents, type ResponsesAnswer, toSse } from '../../../support/models/native/responsesEvents.ts';

afterEach(endAll);

const user: ModelMessage = { role: 'user', content: 'Hello.' };
const tool = (name: string) => ({ name, description: `Does ${name}.`, parameters: { type: 'object', properties: {} } });
const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  conversation: 'c1',
  system: 'You are.',
  messages: [user],
  tools: [tool('look'), tool('edit')],
  ...more,
});

function ask(
  { address }: NativeEndpoint,
  given: ModelRequest = request(),
  more: Partial<EndpointOptions> = {},
): Promise<ModelPart[]> {
  const model = createModel({
    api: 'responses',
    baseUrl: `${address}/v1`,
    model: 'gpt-6-sol',
    apiKey: async () => 'k',
    ...more,
  });
  return Array.fromAsync(model.stream(given, new AbortController().signal));
}

const replies = (...list: readonly Reply[]) => {
  const left = [...list];
  return startNativeEndpoint({
    title: '',
    reply: () => left.shift() ?? { status: 400, body: { error: { message: 'the script has ended' } } },
  });
};
const answers = (answer: ResponsesAnswer): Reply => ({ sse: toSse(responsesEvents(answer)) });
const refuses = (message: string, more: object = {}, status = 400): Reply => ({
  status,
  body: { error: { message, type: 'invalid_request_error', ...more } },
});
const hi = answers({ items: [{ id: 'msg_1', ...textItem('Hi.') }] });
const last = (parts: readonly ModelPart[]) => parts.at(-1);

test('the answer is returned with its items, to be sent back', async () => {
  const endpoint = await startOpenAi(() => ({ items: [reasoningItem('Hm.'), textItem('Hi.')] }));
  const parts = await ask(endpoint);
  expect(parts.filter(({ type }) => type === 'text')).toEqual([
    { type: 'text', text: 'Hi' },
    { type: 'text', text: '.' },
  ]);
  expect(last(parts)).toMatchObject({
    type: 'finished',
    origin: {
      api: 'responses',
      provider: endpoint.address,
      model: 'gpt-6-sol',
      items: [
        { type: 'configuration_update' },
        { type: 'reasoning', encrypted_content: expect.stringMatching(/^gAAA/) as string },
        { type: 'message', phase: 'final_answer' },
      ],
    },
  });
});

describe('parameters', () => {
  test('of a reasoning model', async () => {
    const options = { reasoningEffort: 'high', maxTokens: 3, temperature: 0.5 } as const;
    expect(await responsesBody('gpt-5.6-sol', request(), { options })).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      max_output_tokens: 16,
      prompt_cache_key: 'c1',
      tool_choice: 'auto',
      temperature: 0.5,
    });
  });

  test('the effort of the request comes before that of the options', async () => {
    const options = { reasoningEffort: 'high' } as const;
    const body = await responsesBody('gpt-5.6-sol', request({ effort: 'low' }), { options });
    expect(body['reasoning']).toEqual({ effort: 'low', summary: 'auto' });
  });

  test('a model without reasoning gets none of its parameters', async () => {
    const body = await responsesBody('gpt-4o', request({ effort: 'low' }));
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['reasoning']));
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['include']));
  });

  test('a schema is the format of the text', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    expect((await responsesBody('gpt-5.6-sol', request({ schema })))['text']).toEqual({
      format: { type: 'json_schema', name: 'answer', schema, strict: false },
    });
  });

  test('allowed tools are named without changing the tools', async () => {
    const all = await responsesBody('gpt-6-sol', request());
    const planned = await responsesBody('gpt-6-sol', request({ allowed: ['look', 'gone'] }));
    expect(planned['tools']).toEqual(all['tools']);
    expect(planned['tool_choice']).toEqual({
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'look' }],
    });
    expect((await responsesBody('gpt-6-sol', request({ allowed: 'none' })))['tool_choice']).toBe('none');
    expect((await responsesBody('gpt-6-sol', request({ allowed: ['gone'] })))['tool_choice']).toBe('none');
  });
});

describe('found tools', () => {
  const finds: readonly ModelMessage[] = [
    user,
    {
      role: 'assistant',
      content: '',
      calls: [
        { id: 'c1', name: 'look', arguments: '{}' },
        { id: 'c2', name: 'look', arguments: '{}' },
      ],
    },
    { role: 'tool', call: 'c1', content: 'Found deploy.', found: ['deploy'] },
    { role: 'tool', call: 'c2', content: 'Seen.' },
  ];
  const found = [tool('before'), tool('deploy')];

  test('are added after the outputs that found them; those of before a compaction are the last tools', async () => {
    const body = await responsesBody('gpt-6-sol', request({ messages: finds, found }));
    expect((body['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(['look', 'edit', 'before']);
    expect((body['input'] as { type?: string }[]).slice(-3)).toMatchObject([
      { type: 'function_call_output', call_id: 'c1' },
      { type: 'function_call_output', call_id: 'c2' },
      { type: 'additional_tools', role: 'developer', tools: [{ name: 'deploy', strict: false }] },
    ]);
  });

  test('a model that does not know this gets them at the end of its tools', async () => {
    const body = await responsesBody('grok-4.7', request({ messages: finds, found }));
    expect((body['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(['look', 'edit', 'before', 'deploy']);
    expect(JSON.stringify(body['input'])).not.toContain('additional_tools');
  });
});

test('a changed effort is an item before the answer that it was changed for, and the parameters stay', async () => {
  const endpoint = await startOpenAi((number) => ({ items: [reasoningItem('Hm.'), textItem(`Answer ${number}.`)] }));
  const messages: ModelMessage[] = [user];
  for (const effort of ['low', 'high', 'high', 'low'] as const) {
    const finished = last(await ask(endpoint, request({ messages: [...messages], effort })));
    if (finished?.type !== 'finished' || finished.origin === undefined) throw new Error('there is no answer');
    messages.push({ role: 'assistant', content: 'x', calls: [], origin: finished.origin }, user);
  }
  const efforts = endpoint.requests.map(({ body }) => [
    (body['reasoning'] as { effort: string }).effort,
    ...(body['input'] as { type?: string; reasoning?: { effort: string } }[]).flatMap(({ type, reasoning }, index) =>
      type === 'configuration_update' ? [`${index}: ${reasoning?.effort}`] : [],
    ),
  ]);
  expect(efforts).toEqual([['low'], ['low', '4: high'], ['low', '4: high'], ['low', '4: high', '11: low']]);
  expect(endpoint.refusals).toEqual([]);
  expect(findChangedPrefix(endpoint.requests, 'input', [])).toBeUndefined();
});

describe('an answer in another form', () => {
  const call = { id: 'c1', name: 'look', arguments: '{"at":1}' };
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' };
  const made = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', arguments: '{"at":1}' };
  const origin = { api: 'responses' as const, provider: 'https://api.openai.com', model: 'gpt-6-sol' };
  const body = async (items: readonly unknown[], more: object = {}, calls = [call]) => {
    const messages: ModelMessage[] = [
      user,
      { role: 'assistant', content: 'I look.', calls, origin: { ...origin, items: [...items], ...more } },
      ...calls.map(({ id }) => ({ role: 'tool' as const, call: id, content: 'Seen.' })),
    ];
    const { input } = (await responsesBody('gpt-6-sol', request({ messages }))) as { input: { type?: string }[] };
    return input.slice(1).map(({ type }) => type);
  };

  test('reasoning of another model is left out', async () => {
    expect(await body([reasoning, made])).toEqual(['reasoning', 'function_call', 'function_call_output']);
    expect(await body([reasoning, made], { model: 'gpt-6.1-sol' })).toEqual(['function_call', 'function_call_output']);
  });

  test('reasoning without encrypted content, or that nothing follows, is left out', async () => {
    expect(await body([{ ...reasoning, encrypted_content: null }, made])).toEqual([
      'function_call',
      'function_call_output',
    ]);
    expect(await body([made, reasoning])).toEqual(['function_call', 'function_call_output']);
  });

  test('items of another provider, or whose calls have other ids, are written anew', async () => {
    const anew = ['message', 'function_call', 'function_call_output'];
    expect(await body([reasoning, made], { provider: 'https://other.example' })).toEqual(anew);
    expect(await body([reasoning, made], {}, [{ ...call, id: 'call_new' }])).toEqual(anew);
  });

  test('an id that is too long is mapped for the call and its output', async () => {
    const id = 'x'.repeat(100);
    const messages: ModelMessage[] = [
      user,
      { role: 'assistant', content: '', calls: [{ id, name: 'look', arguments: '{"at": cut' }] },
      { role: 'tool', call: id, content: 'half \ud800' },
    ];
    const { input } = (await responsesBody('gpt-6-sol', request({ messages }))) as { input: Record<string, string>[] };
    expect(input[1]?.['call_id']).toMatch(/^call_[0-9a-f]{32}$/);
    expect(input[2]).toEqual({ type: 'function_call_output', call_id: input[1]?.['call_id'], output: 'half \ufffd' });
    expect(input[1]?.['arguments']).toBe('{"INVALID_JSON":"{\\"at\\": cut"}');
  });
});

test('images of results are in the output; a missing one is named', async () => {
  const messages: ModelMessage[] = [
    user,
    { role: 'assistant', content: '', calls: [{ id: 'c1', name: 'look', arguments: '{}' }] },
    {
      role: 'tool',
      call: 'c1',
      content: 'Two images.',
      resultImages: [
        { hash: 'h', mediaType: 'image/png', name: 'a.png' },
        { hash: 'gone', mediaType: 'image/png', name: 'b.png' },
      ],
    },
  ];
  const image = async (hash: string) => (hash === 'h' ? new Uint8Array([1, 2]) : undefined);
  const { input } = (await responsesBody('gpt-6-sol', request({ messages, image }))) as {
    input: { output: unknown }[];
  };
  expect(input.at(-1)?.output).toEqual([
    { type: 'input_text', text: 'Two images.' },
    { type: 'input_image', image_url: 'data:image/png;base64,AQI=', detail: 'auto' },
    { type: 'input_text', text: '(b.png is not shown: its bytes are gone.)' },
  ]);
});

describe('repairs', () => {
  const reasoned: ModelMessage = {
    role: 'assistant',
    content: 'Hi.',
    calls: [],
    origin: {
      api: 'responses',
      provider: '',
      model: 'gpt-6-sol',
      items: [
        { type: 'reasoning', summary: [], encrypted_content: 'of another organisation' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.', annotations: [] }] },
      ],
    },
  };

  test('reasoning that cannot be verified is left out, once and for all later requests', async () => {
    const endpoint = await startOpenAi(() => ({ items: [textItem('Hi.')] }));
    const options = { baseUrl: `${endpoint.address}/v1`, model: 'gpt-6-sol', apiKey: async () => 'k' };
    const model = createModel({ api: 'responses', ...options });
    const before = { ...reasoned, origin: { ...reasoned.origin, provider: endpoint.address } } as ModelMessage;
    for (let times = 0; times < 2; times += 1) {
      const { signal } = new AbortController();
      const parts = await Array.fromAsync(model.stream(request({ messages: [user, before, user] }), signal));
      expect(last(parts)).toMatchObject({ type: 'finished' });
    }
    expect(endpoint.refusals).toEqual([expect.stringContaining('could not be verified')]);
    expect(endpoint.requests).toHaveLength(3);
  });

  test.each([
    ["Unsupported parameter: 'instructions'", 'instructions', 'instructions'],
    ["Unknown parameter: 'prompt_cache_key'", undefined, 'prompt_cache_key'],
    ['Your organization must be verified to generate reasoning summaries', 'reasoning.summary', 'summary'],
    ["Unsupported parameter: 'temperature' is not supported with this model", 'temperature', 'temperature'],
    ["Unsupported parameter: 'reasoning.effort' is not supported with this model", 'reasoning.effort', 'effort'],
    ['Encrypted content is not supported with this model.', undefined, 'include'],
  ])('“%s” is learnt and remembered', async (message, param, field) => {
    const endpoint = await replies(refuses(message, { param }), hi, hi);
    const memory = createEndpointMemory();
    const more = { memory, options: { temperature: 0.5, reasoningEffort: 'low' as const } };
    expect(last(await ask(endpoint, request(), more))).toMatchObject({ type: 'finished' });
    expect(last(await ask(endpoint, request(), more))).toMatchObject({ type: 'finished' });
    const has = endpoint.requests.map(({ body }) => JSON.stringify(body).includes(`"${field}":`));
    expect(has).toEqual([true, false, false]);
    // The system prompt is never lost.
    expect(endpoint.requests.every(({ body }) => JSON.stringify(body).includes('You are.'))).toBe(true);
  });

  test('a refusal without a remedy is shown, and the request is not repeated', async () => {
    const endpoint = await replies(refuses('The weather is bad.'));
    expect(last(await ask(endpoint))).toMatchObject({ type: 'failed', failure: { code: 'bad_request' } });
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe('failures', () => {
  const failed = async (reply: Reply) => last(await ask(await replies(reply)));

  test.each([
    ['a key', refuses('Incorrect API key', { code: 'invalid_api_key' }, 401), 'key_refused', false],
    ['no quota', refuses('You exceeded your current quota', { code: 'insufficient_quota' }, 429), 'no_quota', false],
    ['a rate limit', refuses('Rate limit reached', { code: 'rate_limit_exceeded' }, 429), 'rate_limited', true],
    [
      'overflow',
      refuses('Your input exceeds the context window of this model', { code: 'context_length_exceeded' }),
      'context_overflow',
      false,
    ],
    ['a policy', refuses('Not this.', { code: 'misalignment_policy_violation' }, 403), 'content_refused', false],
    ['no model', refuses('The model does not exist', { code: 'model_not_found' }, 404), 'not_found', false],
    ['a failed response', answers({ error: { code: 'server_error', message: 'Oops.' } }), 'refused', true],
    ['a prompt', answers({ error: { code: 'invalid_prompt', message: 'Not this.' } }), 'content_refused', false],
    [
      'a content filter',
      answers({ items: [textItem('Half')], incomplete: 'content_filter' }),
      'content_refused',
      false,
    ],
  ])('%s', async (_name, reply, code, isRetried) => {
    const part = await failed(reply);
    expect(part).toMatchObject({ type: 'failed', failure: { code, nextStep: expect.any(String) as string } });
    expect(part !== undefined && 'retry' in part).toBe(isRetried);
  });

  test('a truncated answer has no items to send back', async () => {
    const part = await failed(answers({ items: [textItem('Half')], incomplete: 'max_output_tokens' }));
    expect(part).toEqual({ type: 'finished', truncated: true, usage: expect.any(Object) as object });
  });
});
