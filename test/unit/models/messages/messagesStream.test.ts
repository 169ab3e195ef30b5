// Streams of the Messages API: parts, and the blocks that the official SDK reads from the same bytes.
import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { type ModelPart } from '../../../../src/core/ports/ports.ts';
import { MessagesAccumulator } from '../../../../src/models/messages/messagesStream.ts';
import { readAnswer } from '../../../../src/models/wire/send.ts';
import {
  type ContentBlock,
  type MessagesAnswer,
  messagesEvents,
} from '../../../support/models/native/messagesEvents.ts';
import { toSse } from '../../../support/models/native/responsesEvents.ts';

const thinking = (text: string): ContentBlock => ({ type: 'thinking', thinking: text, signature: `signed ${text}` });
const text = (words: string): ContentBlock => ({ type: 'text', text: words, citations: null });
const use = (id: string, input: object): ContentBlock => ({ type: 'tool_use', id, name: 'look', input });

const stream = (sse: string) => new Response(sse, { headers: { 'content-type': 'text/event-stream' } });

async function read(sse: string): Promise<{ parts: ModelPart[]; accumulator: MessagesAccumulator }> {
  const accumulator = new MessagesAccumulator();
  const parts = await Array.fromAsync(readAnswer(stream(sse), accumulator));
  return { parts: parts.filter(({ type }) => type !== 'alive'), accumulator };
}

const textIn = (parts: readonly ModelPart[], type: 'text' | 'reasoning') =>
  parts.map((part) => (part.type === type ? part.text : '')).join('');

const cases: Readonly<Record<string, MessagesAnswer>> = {
  'thinking, text and parallel calls': {
    content: [thinking('Both?'), text('I look at both.'), use('toolu_1', { at: 'a' }), use('toolu_2', { at: 'b' })],
  },
  'thinking between calls': {
    content: [thinking('One.'), use('toolu_1', { at: 'a' }), thinking('Two.'), use('toolu_2', {}), text('So.')],
  },
  'thinking that is not shown': { content: [{ type: 'thinking', thinking: '', signature: 'signed' }, text('Hi.')] },
  'redacted thinking': { content: [{ type: 'redacted_thinking', data: 'opaque' }, text('Hi.')] },
  'a block of an unknown type': { content: [{ type: 'new_kind', data: { a: 1 } }, text('Hi.')] },
  'a pause': { content: [text('Searching')], stop: 'pause_turn' },
};

describe('the blocks are those that the official SDK accumulates', () => {
  test.each(Object.entries(cases))('%s', async (_name, answer) => {
    const sse = toSse(messagesEvents(answer));
    const sdk = new Anthropic({ apiKey: 'k', fetch: async () => stream(sse), openTelemetry: false });
    const final = await sdk.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage();
    const { parts, accumulator } = await read(sse);
    expect(accumulator.items).toEqual(JSON.parse(JSON.stringify(final.content)));
    expect(accumulator.items).toEqual(answer.content);
    expect(accumulator.stopReason).toBe(final.stop_reason);
    expect(parts.at(-1)).toMatchObject({ type: 'finished' });
  });
});

test('parts are shown as they arrive, and calls come complete before the end', async () => {
  const { parts } = await read(toSse(messagesEvents(cases['thinking between calls'] ?? {})));
  expect(textIn(parts, 'reasoning')).toBe('One.\n\nTwo.');
  expect(textIn(parts, 'text')).toBe('So.');
  expect(parts.slice(-3)).toEqual([
    { type: 'tool_call', id: 'toolu_1', name: 'look', arguments: '{"at":"a"}' },
    { type: 'tool_call', id: 'toolu_2', name: 'look', arguments: '{}' },
    // The total of uncached, read and written tokens.
    { type: 'finished', usage: { input_tokens: 100, output_tokens: 7, cached_tokens: 60, written_tokens: 30 } },
  ]);
});

test('invalid JSON of a call is kept as its text', async () => {
  const { parts, accumulator } = await read(
    toSse(messagesEvents({ content: [use('toolu_1', {})], json: '{"at": "a' })),
  );
  expect(parts).toContainEqual({ type: 'tool_call', id: 'toolu_1', name: 'look', arguments: '{"at": "a' });
  expect(accumulator.items).toEqual([use('toolu_1', { INVALID_JSON: '{"at": "a' })]);
});

test('a call that the limit has cut is dropped', async () => {
  const answer = { content: [text('I look.'), use('toolu_1', {})], json: '{"at": "a', stop: 'max_tokens' };
  const { parts } = await read(toSse(messagesEvents(answer)));
  expect(parts.filter(({ type }) => type === 'tool_call')).toEqual([]);
  expect(parts.at(-1)).toMatchObject({ type: 'finished', truncated: true });
});

test('citations are part of their text', async () => {
  const events = messagesEvents({ content: [text('Said.')] });
  const citation = { type: 'char_location', cited_text: 'Said' };
  const at = events.findIndex(({ type }) => type === 'content_block_stop');
  const cited = events.toSpliced(at, 0, {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'citations_delta', citation },
  });
  expect((await read(toSse(cited))).accumulator.items).toEqual([{ ...text('Said.'), citations: [citation] }]);
});

test('what the server has changed in the request, and why the model refused, is known', async () => {
  const dropped = { type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' };
  const details = { type: 'refusal', category: 'cyber', explanation: 'Not this.' };
  const answer = { content: [], stop: 'refusal', details, transformations: [dropped] };
  const { accumulator } = await read(toSse(messagesEvents(answer)));
  expect(accumulator.transformations).toEqual([dropped]);
  expect(accumulator.stopDetails).toBe('cyber: Not this.');
});

test('the id of an answer, and why the cache had less of its request, are known', async () => {
  const [start, ...rest] = messagesEvents({ content: [text('Hi.')] });
  const reason = { type: 'system_changed', cache_missed_input_tokens: 900 };
  const { message } = start as { message: object };
  const told = { ...start, message: { ...message, diagnostics: { cache_miss_reason: reason } } };
  const { accumulator } = await read(toSse([told, ...rest]));
  expect([accumulator.id, accumulator.missed]).toEqual(['msg_1', reason]);
});

test.each([
  ['overloaded_error', 529],
  ['rate_limit_error', 429],
  ['invalid_request_error', 400],
  ['unheard_of', 500],
])('an error inside the stream: %s', async (type, status) => {
  const sse = toSse(messagesEvents({ content: [text('Half')], error: { type, message: 'No.' } }));
  await expect(read(sse)).rejects.toMatchObject({ status, message: 'No.' });
});

test('a server that cannot stream sends the message itself', async () => {
  const body = {
    type: 'message',
    content: [text('Hi.'), use('toolu_1', { a: 1 })],
    stop_reason: 'tool_use',
    usage: {},
  };
  const accumulator = new MessagesAccumulator();
  const response = new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
  const parts = await Array.fromAsync(readAnswer(response, accumulator));
  expect(parts).toEqual([
    { type: 'text', text: 'Hi.' },
    { type: 'writing_call', index: 0, name: 'look', text: '' },
    { type: 'tool_call', id: 'toolu_1', name: 'look', arguments: '{"a":1}' },
    { type: 'finished' },
  ]);
  expect(accumulator.items).toEqual(body.content);
});

test('hostile events are ignored or bounded', async () => {
  const odd = [
    { type: 'content_block_delta', index: 4, delta: { type: 'text_delta', text: 'x' } },
    { type: 'content_block_start', index: 0, content_block: null },
    { type: 'content_block_delta', index: 0, delta: null },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 4 } },
    { type: 'message_delta', delta: null, usage: { output_tokens: -1, input_tokens: 'many' } },
    {},
  ];
  expect((await read(toSse([...odd, { type: 'message_stop' }]))).parts.at(-1)).toEqual({ type: 'finished' });
  const many = Array.from({ length: 1100 }, (_, index) => ({
    type: 'content_block_start',
    index,
    content_block: { type: 'text', text: '' },
  }));
  await expect(read(toSse(many))).rejects.toThrow('1000 content blocks');
});
