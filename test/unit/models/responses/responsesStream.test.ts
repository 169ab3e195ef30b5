// Streams of the Responses API: parts, and the items that the official SDK reads from the same bytes.
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { type ModelPart } from '../../../../src/core/ports/ports.ts';
import { ResponsesAccumulator } from '../../../../src/models/responses/responsesStream.ts';
import { readAnswer } from '../../../../src/models/wire/send.ts';
import {
  type OutputItem,
  type ResponsesAnswer,
  responsesEvents,
  toSse,
} from '../../../support/models/native/responsesEvents.ts';

const reasoning = (text: string): OutputItem => ({
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text },
    { type: 'summary_text', text: 'Then the rest.' },
  ],
  encrypted_content: 'gAAA…',
  status: 'completed',
});
const message = (text: string, phase = 'final_answer'): OutputItem => ({
  id: `msg_${phase}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  phase,
  content: [{ type: 'output_text', text, annotations: [] }],
});
const call = (id: string, args: string): OutputItem => ({
  id: `fc_${id}`,
  type: 'function_call',
  call_id: id,
  name: 'look',
  arguments: args,
  status: 'completed',
});

const stream = (sse: string) => new Response(sse, { headers: { 'content-type': 'text/event-stream' } });

async function read(sse: string): Promise<{ parts: ModelPart[]; items: readonly unknown[] }> {
  const accumulator = new ResponsesAccumulator();
  const parts = await Array.fromAsync(readAnswer(stream(sse), accumulator));
  return { parts: parts.filter(({ type }) => type !== 'alive'), items: accumulator.items };
}

const textIn = (parts: readonly ModelPart[], type: 'text' | 'reasoning') =>
  parts.map((part) => (part.type === type ? part.text : '')).join('');

const cases: Readonly<Record<string, ResponsesAnswer>> = {
  'reasoning, commentary and parallel calls': {
    items: [
      reasoning('First look.'),
      message('I look at both.', 'commentary'),
      call('call_1', '{"at":"a"}'),
      call('call_2', '{"at":"b"}'),
    ],
  },
  'interleaved items': {
    items: [message('One two three.'), call('call_1', '{"at":"a"}'), call('call_2', '{"at":"b"}')],
    interleaved: true,
  },
  'two texts': { items: [message('Before.', 'commentary'), message('After.')] },
  'a refusal': {
    items: [{ ...message(''), content: [{ type: 'refusal', refusal: 'I cannot help with this.' }] }],
  },
  'an item of an unknown type': { items: [{ type: 'new_kind', id: 'x_1', data: { a: 1 } }, message('Hi.')] },
  'an incomplete answer': { items: [message('Half an')], incomplete: 'max_output_tokens' },
};

describe('the items are those that the official SDK accumulates', () => {
  test.each(Object.entries(cases))('%s', async (_name, answer) => {
    const sse = toSse(responsesEvents(answer));
    const sdk = new OpenAI({ apiKey: 'k', fetch: async () => stream(sse) });
    const final = await sdk.responses.stream({ model: 'm', input: 'x' }).finalResponse();
    const { parts, items } = await read(sse);
    const output = final.output as unknown as readonly (Record<string, unknown> & { parsed?: unknown })[];
    // The SDK adds what it has parsed of texts and arguments.
    expect(items).toEqual(
      JSON.parse(JSON.stringify(output, (key, value: unknown) => (/^parsed/.test(key) ? undefined : value))),
    );
    expect(textIn(parts, 'text').replaceAll('\n\n', '')).toBe(
      final.output_text || (answer.items?.[0]?.['content'] as { refusal?: string }[])[0]?.refusal,
    );
  });
});

test('parts are shown as they arrive, and calls come complete before the end', async () => {
  const { parts } = await read(toSse(responsesEvents(cases['reasoning, commentary and parallel calls'] ?? {})));
  expect(textIn(parts, 'reasoning')).toBe('First look.\n\nThen the rest.');
  expect(textIn(parts, 'text')).toBe('I look at both.');
  expect(parts.slice(-3)).toEqual([
    { type: 'tool_call', id: 'call_1', name: 'look', arguments: '{"at":"a"}' },
    { type: 'tool_call', id: 'call_2', name: 'look', arguments: '{"at":"b"}' },
    { type: 'finished', usage: { input_tokens: 100, output_tokens: 10, cached_tokens: 60, written_tokens: 30 } },
  ]);
  const written = parts.flatMap((part) =>
    part.type === 'writing_call' ? [`${part.index} ${part.name} ${part.text}`] : [],
  );
  expect(written).toEqual(['0 look ', '0 look {"at"', '0 look :"a"}', '1 look ', '1 look {"at"', '1 look :"b"}']);
});

test('texts of different items are separated', async () => {
  const { parts } = await read(toSse(responsesEvents(cases['two texts'] ?? {})));
  expect(textIn(parts, 'text')).toBe('Before.\n\nAfter.');
});

test.each(['max_output_tokens', 'max_messages', 'steered', 'a_new_reason'])(
  'a call that was cut (%s) is dropped, and the answer counts as truncated',
  async (incomplete) => {
    const items = [message('I look.'), call('call_1', '{"at":"a"}'), call('call_2', '{"at":')];
    const { parts } = await read(toSse(responsesEvents({ items, incomplete })));
    expect(parts.slice(-2)).toMatchObject([
      { type: 'tool_call', id: 'call_1' },
      { type: 'finished', truncated: true },
    ]);
  },
);

test('encrypted reasoning that comes only with the end of the response is kept', async () => {
  const whole = [reasoning('Hm.'), message('Hi.')];
  const events = responsesEvents({ items: whole }).map((event) =>
    event['type'] === 'response.output_item.done' && event['output_index'] === 0
      ? { ...event, item: { ...whole[0], encrypted_content: null } }
      : event,
  );
  expect((await read(toSse(events))).items).toEqual(whole);
});

test('an end with an empty output keeps the items that were streamed', async () => {
  const events = responsesEvents({ items: [message('Hi.')] }).map((event) =>
    event['type'] === 'response.completed' ? { ...event, response: { status: 'completed', output: [] } } : event,
  );
  expect((await read(toSse(events))).items).toEqual([message('Hi.')]);
});

test('a text without deltas is shown once', async () => {
  const events = responsesEvents({ items: [message('Hi.')] }).filter(
    ({ type }) => type !== 'response.output_text.delta',
  );
  expect(textIn((await read(toSse(events))).parts, 'text')).toBe('Hi.');
});

test('a server that cannot stream sends the response itself', async () => {
  const body = { object: 'response', status: 'completed', output: [message('Hi.'), call('call_1', '{}')], usage: null };
  const accumulator = new ResponsesAccumulator();
  const parts = await Array.fromAsync(
    readAnswer(new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } }), accumulator),
  );
  expect(parts).toEqual([
    { type: 'text', text: 'Hi.' },
    { type: 'tool_call', id: 'call_1', name: 'look', arguments: '{}' },
    { type: 'finished' },
  ]);
});

test.each([
  ['server_error', 500],
  ['rate_limit_exceeded', 429],
  ['invalid_prompt', 400],
  ['bio_policy', 400],
])('a failed response with the code %s', async (code, status) => {
  const sse = toSse(responsesEvents({ items: [], error: { code, message: 'It failed.' } }));
  await expect(read(sse)).rejects.toMatchObject({ code, status, message: 'It failed.' });
});

test.each([
  [{ type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.', sequence_number: 0 }, 429],
  [{ type: 'error', code: null, message: 'An error occurred.', sequence_number: 0 }, 500],
  [{ type: 'error', error: { type: 'server_error', code: 'server_error', message: 'Oops.' } }, 500],
])('an error event may come at any time, also first: %j', async (event, status) => {
  await expect(read(toSse([event]))).rejects.toMatchObject({ status });
});

test('a content filter stops the answer with a refusal', async () => {
  const sse = toSse(responsesEvents({ items: [message('Half')], incomplete: 'content_filter' }));
  await expect(read(sse)).rejects.toMatchObject({ code: 'content_filter' });
});

test('a stream that is cut has no end', async () => {
  const { parts } = await read(toSse(responsesEvents({ items: [message('Hi.')] }).slice(0, -1)));
  expect(parts.at(-1)).not.toMatchObject({ type: 'finished' });
});

test('hostile events are ignored or bounded', async () => {
  const odd = [
    { type: 'response.output_text.delta' },
    { type: 'response.output_text.delta', output_index: 'x', delta: { a: 1 } },
    { type: 'response.output_item.done', item: null },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', content: [null, { text: 4 }] } },
    { type: 'response.function_call_arguments.delta', output_index: 7, delta: '{' },
    {},
  ];
  expect((await read(toSse([...odd, { type: 'response.completed', response: null }]))).parts.at(-1)).toEqual({
    type: 'finished',
  });
  const many = Array.from({ length: 1100 }, (_, index) => ({
    type: 'response.output_item.done',
    output_index: index,
    item: message('a'),
  }));
  await expect(read(toSse(many))).rejects.toThrow('1000 output items');
});
