// Requests of the Responses API: the items of an answer, changed effort, repairs, and failures by name.
import { afterEach, describe, expect, test } from 'vitest';
import { type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { createEndpointMemory } from '../../../../src/models/endpointMemory.ts';
import { endAll } from '../../../support/endings.ts';
import { asking, askTwice, askWithEfforts, last, replies, request } from '../../../support/models/native/asking.ts';
import { findChangedPrefix, type Reply } from '../../../support/models/native/nativeEndpoint.ts';
import { reasoningItem, startOpenAi, textItem } from '../../../support/models/native/openaiEndpoint.ts';
import { responsesEvents, type ResponsesAnswer, toSse } from '../../../support/models/native/responsesEvents.ts';

afterEach(endAll);

const ask = asking('responses', 'gpt-6-sol', '/v1');
const answers = (answer: ResponsesAnswer): Reply => ({ sse: toSse(responsesEvents(answer)) });
const refuses = (message: string, more: object = {}, status = 400): Reply => ({
  status,
  body: { error: { message, type: 'invalid_request_error', ...more } },
});
const hi = answers({ items: [{ id: 'msg_1', ...textItem('Hi.') }] });

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

test('a changed effort is an item before the answer that it was changed for, and the parameters stay', async () => {
  const endpoint = await startOpenAi((number) => ({ items: [reasoningItem('Hm.'), textItem(`Answer ${number}.`)] }));
  await askWithEfforts(ask, endpoint, ['low', 'high', 'high', 'low', undefined]);
  const efforts = endpoint.requests.map(({ body }) => [
    (body['reasoning'] as { effort: string }).effort,
    ...(body['input'] as { type?: string; reasoning?: { effort: string } }[]).flatMap(({ type, reasoning }, index) =>
      type === 'configuration_update' ? [`${index}: ${reasoning?.effort}`] : [],
    ),
  ]);
  expect(efforts).toEqual([
    ['low'],
    ['low', '4: high'],
    ['low', '4: high'],
    ['low', '4: high', '11: low'],
    ['low', '4: high', '11: low'],
  ]);
  expect(endpoint.refusals).toEqual([]);
  expect(findChangedPrefix(endpoint.requests, 'input', [])).toBeUndefined();
});

test('an effort that is no longer chosen is replaced by the model’s default, once', async () => {
  const endpoint = await startOpenAi(() => ({ items: [textItem('Hi.')] }));
  await askWithEfforts(ask, endpoint, [undefined, 'high', undefined, undefined]);
  const { body } = endpoint.requests.at(-1) ?? {};
  const updates = (body?.['input'] as { reasoning?: { effort: string } }[]).flatMap(({ reasoning }) => reasoning ?? []);
  expect([body?.['reasoning'], updates]).toEqual([{ summary: 'auto' }, [{ effort: 'high' }, { effort: 'medium' }]]);
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
    const before = { ...reasoned, origin: { ...reasoned.origin, provider: endpoint.address } } as ModelMessage;
    const sent = await askTwice('responses', 'gpt-6-sol', `${endpoint.address}/v1`, before);
    expect(sent).toMatchObject([{ type: 'finished' }, { type: 'finished' }]);
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

  test('a value that the model lacks is left out, but other values are sent again', async () => {
    const message = "Unsupported value: 'reasoning.effort' does not support 'max' with this model.";
    const endpoint = await replies(refuses(message, { param: 'reasoning.effort' }), hi, hi);
    const memory = createEndpointMemory();
    await ask(endpoint, request({ effort: 'max' }), { memory });
    await ask(endpoint, request({ effort: 'low' }), { memory });
    const efforts = endpoint.requests.map(({ body }) => (body['reasoning'] as { effort?: string }).effort);
    expect(efforts).toEqual(['max', undefined, 'low']);
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
    [
      'a region',
      refuses('Country, region, or territory not supported', { code: 'unsupported_country_region_territory' }, 403),
      'region_refused',
      false,
    ],
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
