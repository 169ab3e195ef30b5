// Requests of the Messages API: headers, pauses, empty answers, repairs, and failures by name.
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { createEndpointMemory } from '../../../../src/models/endpointMemory.ts';
import { createModel } from '../../../../src/models/model.ts';
import { atTestEnd, endAll } from '../../../support/endings.ts';
import {
  startAnthropic,
  textContent,
  thinkingBlock,
  useBlock,
} from '../../../support/models/native/anthropicEndpoint.ts';
import {
  asking,
  askTwice,
  askWithEfforts,
  last,
  replies,
  request,
  user,
} from '../../../support/models/native/asking.ts';
import { type MessagesAnswer, messagesEvents } from '../../../support/models/native/messagesEvents.ts';
import { findChangedPrefix, type Reply, startNativeEndpoint } from '../../../support/models/native/nativeEndpoint.ts';
import { toSse } from '../../../support/models/native/responsesEvents.ts';

afterEach(endAll);

const ask = asking('messages', 'claude-opus-5-5', '');
const calling = (...ids: readonly string[]): ModelMessage => ({
  role: 'assistant',
  content: '',
  calls: ids.map((id) => ({ id, name: 'look', arguments: '{}' })),
});

const answers = (answer: MessagesAnswer): Reply => ({ sse: toSse(messagesEvents(answer)) });
const refuses = (message: string, status = 400, type = 'invalid_request_error', headers = {}): Reply => ({
  status,
  body: { type: 'error', error: { type, message }, request_id: 'req_1' },
  headers,
});
const hi = answers({ content: [textContent('Hi.')] });

test('the answer is returned with its blocks, to be sent back', async () => {
  const endpoint = await startAnthropic(() => ({ content: [thinkingBlock('Hm.'), useBlock('toolu_1', 'look', {})] }));
  const parts = await ask(endpoint);
  expect(parts.slice(-2)).toMatchObject([
    { type: 'tool_call', id: 'toolu_1' },
    {
      type: 'finished',
      usage: { input_tokens: 100, cached_tokens: 60, written_tokens: 30, output_tokens: 7 },
      origin: {
        api: 'messages',
        provider: endpoint.address,
        model: 'claude-opus-5-5',
        items: [
          { type: 'thinking', signature: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
          { type: 'tool_use' },
        ],
      },
    },
  ]);
});

describe('headers', () => {
  test('a model with bound thinking gets its beta, an older one that of interleaved thinking, others none', async () => {
    const endpoint = await startNativeEndpoint({ title: '', reply: () => hi });
    for (const model of ['claude-opus-5-5', 'claude-haiku-4-5', 'claude-opus-4-8', 'MiniMax-M3']) {
      await ask(endpoint, request(), { model });
    }
    expect(endpoint.requests.map(({ headers }) => headers['anthropic-beta'])).toEqual([
      'thinking-binding-controls-2026-08-01',
      'interleaved-thinking-2025-05-14',
      undefined,
      undefined,
    ]);
  });

  test('configured headers are sent and replace none of Earshot’s', async () => {
    const endpoint = await startNativeEndpoint({ title: '', reply: () => hi });
    await ask(endpoint, request(), { headers: { 'x-team': 'tea', 'X-API-Key': 'other' } });
    expect(endpoint.requests[0]?.headers).toMatchObject({ 'x-team': 'tea', 'x-api-key': 'k' });
  });

  test('a redirect is not followed, because the key would go to another host', async () => {
    const elsewhere = await startNativeEndpoint({ title: '', reply: () => hi });
    const server = createServer((_request, response) =>
      response.writeHead(307, { location: `${elsewhere.address}/v1/messages` }).end(),
    );
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    atTestEnd(async () => void server.close());
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(last(await ask({ address }))).toMatchObject({ type: 'failed', failure: { code: 'unreachable' } });
    expect(elsewhere.requests).toEqual([]);
  });
});

test('an answer that pauses is continued, and is one answer', async () => {
  const endpoint = await startAnthropic((number) =>
    number === 0
      ? { content: [thinkingBlock('Hm.'), textContent('Searching.')], stop: 'pause_turn' }
      : { content: [textContent('Found.')] },
  );
  const parts = await ask(endpoint);
  expect(endpoint.refusals).toEqual([]);
  expect(last(parts)).toMatchObject({
    type: 'finished',
    usage: { input_tokens: 200 },
    origin: { items: [{ type: 'thinking' }, textContent('Searching.'), textContent('Found.')] },
  });
});

test('an answer that pauses without end is ended', async () => {
  const pause = answers({ content: [textContent('Hm.')], stop: 'pause_turn' });
  const endpoint = await startNativeEndpoint({ title: '', reply: () => pause });
  expect(last(await ask(endpoint))).toMatchObject({ type: 'finished' });
  expect(endpoint.requests).toHaveLength(21);
});

describe('nothing as the answer to results', () => {
  const results: ModelMessage[] = [
    user,
    calling('c1'),
    { role: 'tool', call: 'c1', content: 'Seen.', block: { format: 'developer', text: 'Facts.' } },
  ];

  test('the model is asked once to continue, and later requests repeat these bytes', async () => {
    const endpoint = await startAnthropic(
      (number) => (number === 0 ? { content: [] } : { content: [thinkingBlock('Hm.'), textContent('Hi.')] }),
      { compatible: true },
    );
    const more = { baseUrl: `${endpoint.address}/anthropic`, model: 'MiniMax-M3' };
    const finished = last(await ask(endpoint, request({ messages: results }), more));
    if (finished?.type !== 'finished' || finished.origin === undefined) throw new Error('there is no answer');
    const answer: ModelMessage = { role: 'assistant', content: 'Hi.', calls: [], origin: finished.origin };
    await ask(endpoint, request({ messages: [...results, answer, user] }), more);
    const sent = endpoint.requests.map(({ body }) =>
      JSON.stringify(body['messages']).replaceAll(',"cache_control":{"type":"ephemeral"}', ''),
    );
    expect(sent[0]).not.toContain('Please continue.');
    expect(sent[1]).toContain('"text":"Please continue."}]}]');
    expect(sent[2]?.startsWith(sent[1]?.slice(0, -1) ?? 'x')).toBe(true);
    expect(endpoint.refusals).toEqual([]);
  });

  test('a second time it is an empty answer, which the agent loop reports', async () => {
    const thinks = answers({ content: [thinkingBlock('Hm.')] });
    const endpoint = await replies(thinks, thinks);
    const parts = await ask(endpoint, request({ messages: results }));
    expect(last(parts)).toEqual({ type: 'finished', usage: expect.any(Object) as object });
  });
});

describe('a changed effort', () => {
  const thinks = () => ({ content: [thinkingBlock('Hm.'), textContent('Hi.')] });
  /** The effort of each request, and the places of its messages that change it. */
  const effortsIn = (requests: readonly { readonly body: Readonly<Record<string, unknown>> }[]) =>
    requests.map(({ body }) => [
      (body['output_config'] as { effort: string } | undefined)?.effort,
      ...(body['messages'] as { output_config?: { effort: string } }[]).flatMap(({ output_config: config }, index) =>
        config === undefined ? [] : [`${index}: ${config.effort}`],
      ),
    ]);

  test('is in the system message before the answer that it was changed for, and the request’s own stays', async () => {
    const endpoint = await startAnthropic(thinks);
    await askWithEfforts(ask, endpoint, ['low', 'high', 'high', 'low', undefined]);
    expect(effortsIn(endpoint.requests)).toEqual([
      ['low'],
      ['low', '3: high'],
      ['low', '3: high'],
      ['low', '3: high', '8: low'],
      ['low', '3: high', '8: low', '11: high'],
    ]);
    expect(endpoint.refusals).toEqual([]);
    expect(findChangedPrefix(endpoint.requests, 'messages', ['cache_control'])).toBeUndefined();
    const betas = endpoint.requests.map(({ headers }) => headers['anthropic-beta']);
    expect(betas.map((beta) => beta?.includes('mid-conversation-output-config'))).toEqual([
      ...[false, true, true, true, true],
    ]);
  });

  test('from the model’s default and back', async () => {
    const endpoint = await startAnthropic(thinks);
    await askWithEfforts(ask, endpoint, [undefined, 'max', undefined, undefined]);
    expect(effortsIn(endpoint.requests).at(-1)).toEqual([undefined, '3: max', '6: high']);
    expect(findChangedPrefix(endpoint.requests, 'messages', ['cache_control'])).toBeUndefined();
  });

  test('an older model gets it with the request', async () => {
    const endpoint = await startAnthropic(thinks);
    await askWithEfforts(ask, endpoint, ['low', 'high'], { model: 'claude-opus-4-8' });
    expect(effortsIn(endpoint.requests)).toEqual([['low'], ['high']]);
  });

  test('a server that refuses it in messages gets it with the request', async () => {
    const endpoint = await startAnthropic(thinks, { noMessageEffort: true });
    await askWithEfforts(ask, endpoint, ['low', 'high', 'low'], { memory: createEndpointMemory() });
    expect(endpoint.refusals).toHaveLength(1);
    expect(effortsIn(endpoint.requests)).toEqual([['low'], ['low', '3: high'], ['high'], ['low']]);
  });

  test('thinking that is switched off is a parameter of the request', async () => {
    const endpoint = await startAnthropic(thinks);
    await askWithEfforts(ask, endpoint, ['low', 'high', 'none']);
    expect(effortsIn(endpoint.requests).at(-1)).toEqual([undefined]);
    expect(endpoint.requests.at(-1)?.body['thinking']).toEqual({ type: 'between_tools' });
  });

  test('the breakpoint is on the text before it', async () => {
    const endpoint = await startAnthropic(thinks);
    await askWithEfforts(ask, endpoint, ['low', 'high']);
    const messages = endpoint.requests[1]?.body['messages'] as { role: string; content?: object[] }[];
    const marked = messages.filter(({ content = [] }) => content.some((block) => 'cache_control' in block));
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'system']);
    expect(marked.map((message) => messages.indexOf(message))).toEqual([0, 2]);
  });
});

describe('repairs', () => {
  test('system messages that the model refuses are learnt: the block moves into the result', async () => {
    const endpoint = await startAnthropic(() => ({ content: [textContent('Hi.')] }), { noSystem: true });
    const memory = createEndpointMemory();
    const messages: ModelMessage[] = [{ ...user, block: { format: 'developer', text: 'Facts.' } }];
    for (let times = 0; times < 2; times += 1) {
      expect(last(await ask(endpoint, request({ messages }), { memory }))).toMatchObject({ type: 'finished' });
    }
    expect(endpoint.refusals).toHaveLength(1);
    expect(JSON.stringify(endpoint.requests.at(-1)?.body['messages'])).toContain('Facts.');
  });

  test('thinking whose signature is refused is left out, once and for all later requests', async () => {
    const endpoint = await startAnthropic(() => ({ content: [textContent('Hi.')] }));
    const items = [{ type: 'thinking', thinking: 'Hm.', signature: 'of another prefix' }, textContent('Hi.')];
    const origin = { api: 'messages' as const, provider: endpoint.address, model: 'claude-opus-5-5', items };
    const before: ModelMessage = { role: 'assistant', content: 'Hi.', calls: [], origin };
    const sent = await askTwice('messages', 'claude-opus-5-5', endpoint.address, before);
    expect(sent).toMatchObject([{ type: 'finished' }, { type: 'finished' }]);
    expect(endpoint.refusals).toEqual([expect.stringContaining('Invalid `signature`')]);
    expect(endpoint.requests).toHaveLength(3);
  });

  test.each([
    ['cache_control: Extra inputs are not permitted', 'cache_control'],
    ['tools.0.custom.eager_input_streaming: Extra inputs are not permitted', 'eager_input_streaming'],
    ['thinking.adaptive.block_binding: Extra inputs are not permitted', 'block_binding'],
    ['output_config: Extra inputs are not permitted', 'output_config'],
    ['thinking: unknown field', 'thinking'],
  ])('“%s” is learnt', async (message, field) => {
    const endpoint = await replies(refuses(message), hi);
    expect(last(await ask(endpoint, request({ effort: 'low' })))).toMatchObject({ type: 'finished' });
    expect(endpoint.requests.map(({ body }) => JSON.stringify(body).includes(`"${field}"`))).toEqual([true, false]);
  });

  test('what the server has dropped is logged', async () => {
    const dropped = { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' };
    const logged: string[] = [];
    const endpoint = await replies(answers({ content: [textContent('Hi.')], transformations: [dropped] }));
    await ask(endpoint, request(), { log: (message) => void logged.push(message) });
    expect(logged).toEqual([expect.stringContaining('prefix_binding_mismatch')]);
  });
});

describe('failures', () => {
  const retryAfter = { 'retry-after': '2' };
  test.each([
    ['a key', refuses('invalid x-api-key', 401, 'authentication_error'), 'key_refused', false],
    ['no credit', refuses('Your credit balance is too low', 402, 'billing_error'), 'no_quota', false],
    ['a spending limit', refuses('limit reached', 429, 'rate_limit_error'), 'no_quota', false],
    ['a rate limit', refuses('slow down', 429, 'rate_limit_error', retryAfter), 'rate_limited', true],
    ['no model', refuses('model: claude-x', 404, 'not_found_error'), 'not_found', false],
    ['a region', refuses('Your region is not supported', 403, 'permission_error'), 'region_refused', false],
    ['overflow', refuses('prompt is too long: 213462 tokens > 200000 maximum'), 'context_overflow', false],
    [
      'a large request',
      refuses('Request exceeds the maximum size', 413, 'request_too_large'),
      'context_overflow',
      false,
    ],
    ['overload', refuses('Overloaded', 529, 'overloaded_error'), 'refused', true],
    [
      'overload in the stream',
      answers({ error: { type: 'overloaded_error', message: 'Overloaded' } }),
      'refused',
      true,
    ],
    [
      'a full window',
      answers({ content: [textContent('Half')], stop: 'model_context_window_exceeded' }),
      'context_overflow',
      false,
    ],
    [
      'a refusal',
      answers({ content: [textContent('Half')], stop: 'refusal', details: { category: 'cyber' } }),
      'content_refused',
      false,
    ],
    ['a proxy’s page', { status: 502, body: {} }, 'refused', true],
  ] as const)('%s', async (_name, reply, code, isRetried) => {
    const part = last(await ask(await replies(reply)));
    expect(part).toMatchObject({ type: 'failed', failure: { code, nextStep: expect.any(String) as string } });
    expect(part !== undefined && 'retry' in part).toBe(isRetried);
  });

  test('a compatible server that asks to slow down without saying how long is asked again', async () => {
    const endpoint = await replies(refuses('slow down', 429, 'rate_limit_error'));
    expect(last(await ask(endpoint, request(), { model: 'MiniMax-M3' }))).toMatchObject({ type: 'failed', retry: {} });
  });

  test('a truncated answer has no blocks to send back', async () => {
    const endpoint = await replies(answers({ content: [textContent('Half')], stop: 'max_tokens' }));
    expect(last(await ask(endpoint))).toEqual({
      type: 'finished',
      truncated: true,
      usage: expect.any(Object) as object,
    });
  });

  test('an aborted request ends without a failure', async () => {
    const endpoint = await replies(hi);
    const model = createModel({ api: 'messages', baseUrl: endpoint.address, model: 'm', apiKey: async () => 'k' });
    expect(await Array.fromAsync(model.stream(request(), AbortSignal.abort()))).toEqual([]);
  });
});
