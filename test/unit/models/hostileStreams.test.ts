// Streams whose events are lost, doubled, exchanged or damaged: the answer ends with known errors only, no call is doubled,
// and the next request is one that the API accepts.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ModelMessage } from '../../../src/core/ports/modelMessages.ts';
import { type ModelPart } from '../../../src/core/ports/ports.ts';
import { StreamAccumulator } from '../../../src/models/chat/chatStream.ts';
import { EndpointError, StreamBrokenError, StreamError } from '../../../src/models/explain.ts';
import { MessagesAccumulator } from '../../../src/models/messages/messagesStream.ts';
import { ResponsesAccumulator } from '../../../src/models/responses/responsesStream.ts';
import { type AnswerAccumulator, readAnswer } from '../../../src/models/wire/send.ts';
import { TooLargeError } from '../../../src/node/boundedBody.ts';
import { type WireOrigin } from '../../../src/protocol/event.ts';
import { callItem, reasoningItem, textItem } from '../../support/models/native/openaiEndpoint.ts';
import { messagesEvents } from '../../support/models/native/messagesEvents.ts';
import { messagesBody, responsesBody } from '../../support/models/native/printedRequests.ts';
import { responsesEvents } from '../../support/models/native/responsesEvents.ts';
import { runs } from '../../support/runs.ts';

type Event = Readonly<Record<string, unknown>>;

const RESPONSES: readonly Event[] = responsesEvents({
  items: [
    { id: 'rs_1', encrypted_content: 'gAAA', ...reasoningItem('Hm.') },
    { id: 'msg_1', ...textItem('I look.', 'commentary') },
    { id: 'fc_1', ...callItem('call_1', 'look', { at: 'a' }) },
    { id: 'fc_2', ...callItem('call_2', 'look', { at: 'b' }) },
  ],
});
const MESSAGES: readonly Event[] = messagesEvents({
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'a' } },
    { type: 'tool_use', id: 'call_2', name: 'look', input: { at: 'b' } },
  ],
});
const delta = (more: object, finish: string | null = null) => ({ choices: [{ delta: more, finish_reason: finish }] });
const piece = (index: number, id: string | undefined, args: string) =>
  delta({ tool_calls: [{ index, ...(id && { id }), function: { ...(id && { name: 'look' }), arguments: args } }] });
const CHAT: readonly Event[] = [
  delta({ role: 'assistant', content: '' }),
  delta({ reasoning_content: 'Hm.' }),
  delta({ content: 'I look.' }),
  piece(0, 'call_1', '{"at":'),
  piece(0, undefined, '"a"}'),
  piece(1, 'call_2', '{"at":"b"}'),
  delta({}, 'tool_calls'),
  { choices: [], usage: { prompt_tokens: 10, completion_tokens: 2 } },
];

const odd = fc.constantFrom<unknown>(null, '', 'x', 0, -1, 1e300, true, [], [null], {}, { type: 'x' }, '\ud800', '{"');

/** Replaces the value at a place somewhere in the event. */
function damaged(event: unknown, path: readonly number[], value: unknown): unknown {
  const [first = 0, ...rest] = path;
  if (typeof event !== 'object' || event === null || path.length === 0) return value;
  const keys = Object.keys(event);
  const key = keys[first % Math.max(1, keys.length)];
  if (key === undefined) return value;
  const inner = (event as Record<string, unknown>)[key];
  const next = damaged(inner, typeof inner === 'object' && inner !== null ? rest : [], value);
  return Array.isArray(event) ? event.with(Number(key), next) : { ...event, [key]: next };
}

interface Change {
  readonly type: 'lose' | 'repeat' | 'double' | 'exchange' | 'damage' | 'cut' | 'misnumber';
  readonly at: number;
  readonly to: number;
  readonly path: readonly number[];
  readonly value: unknown;
}

const change: fc.Arbitrary<Change> = fc.record({
  type: fc.constantFrom('lose', 'repeat', 'double', 'exchange', 'damage', 'cut', 'misnumber'),
  at: fc.nat(60),
  to: fc.nat(60),
  path: fc.array(fc.nat(8), { minLength: 1, maxLength: 4 }),
  value: odd,
});

function changed(events: readonly Event[], changes: readonly Change[]): readonly Event[] {
  return changes.reduce<readonly Event[]>((list, { type, at, to, path, value }) => {
    const [from, other] = [at % Math.max(1, list.length), to % Math.max(1, list.length)];
    const event = list[from];
    if (event === undefined) return list;
    switch (type) {
      case 'lose':
        return list.toSpliced(from, 1);
      case 'repeat':
        return list.toSpliced(from, 0, event);
      case 'double':
        return list.toSpliced(other, 0, event);
      case 'exchange':
        return list.with(from, list[other] ?? event).with(other, event);
      case 'damage':
        return list.with(from, damaged(event, path, value) as Event);
      case 'cut':
        return list.slice(0, from);
      case 'misnumber':
        return list.map(({ output_index: _, ...rest }) => rest);
    }
  }, events);
}

async function read(events: readonly unknown[], accumulator: AnswerAccumulator, size = 1 << 20) {
  const text = new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (let at = 0; at < text.length; at += size) controller.enqueue(text.subarray(at, at + size));
      controller.close();
    },
  });
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const parts: ModelPart[] = [];
  let error: unknown;
  try {
    for await (const part of readAnswer(response, accumulator)) parts.push(part);
  } catch (thrown) {
    error = thrown;
  }
  return { parts, error };
}

const KNOWN = [StreamError, StreamBrokenError, EndpointError, TooLargeError];

/** The next request after the answer, with a result for each call. */
function continued(parts: readonly ModelPart[], origin: WireOrigin | undefined): ModelMessage[] {
  const calls = parts.flatMap((part) =>
    part.type === 'tool_call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
  );
  const content = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  // Core gives calls without an id, or with one that is taken, another id, and then keeps no origin.
  const ids = new Set(calls.map(({ id }) => id));
  const renamed = ids.size < calls.length || ids.has('');
  const named = renamed ? calls.map((call, index) => ({ ...call, id: `core_${index}` })) : calls;
  return [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content, calls: named, ...(origin && !renamed && { origin }) },
    ...named.map(({ id }): ModelMessage => ({ role: 'tool', call: id, content: 'Seen.' })),
    ...(named.length === 0 ? [{ role: 'user' as const, content: 'Go on.' }] : []),
  ];
}

interface Loose {
  readonly type?: string;
  readonly role?: string;
  readonly call_id?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly content?: readonly Loose[];
}

const request = { system: '', tools: [] };

async function refusedByResponses(messages: ModelMessage[]): Promise<unknown> {
  const { input } = (await responsesBody('gpt-5.5', { ...request, messages })) as unknown as { input: Loose[] };
  const of = (type: string) => input.filter((item) => item.type === type).map((item) => item.call_id);
  const [calls, outputs] = [of('function_call'), of('function_call_output')];
  if (new Set(calls).size < calls.length) return 'a call twice';
  if (JSON.stringify(calls.toSorted()) !== JSON.stringify(outputs.toSorted())) return 'a call without its output';
  const bare = input.findIndex(
    ({ type }, at) => type === 'reasoning' && input[at + 1]?.type === 'function_call_output',
  );
  return bare === -1 ? undefined : 'reasoning without its item';
}

async function refusedByMessages(messages: ModelMessage[]): Promise<unknown> {
  const body = (await messagesBody('claude-opus-4-8', { ...request, messages })) as unknown as { messages: Loose[] };
  const blocks = body.messages.flatMap(({ content = [] }) => content);
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
  const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => block.tool_use_id);
  if (new Set(calls).size < calls.length) return 'a call twice';
  return JSON.stringify(calls) === JSON.stringify(results) ? undefined : 'a call without its result';
}

const ORIGIN = {
  responses: { provider: 'https://api.openai.com', model: 'gpt-5.5' },
  messages: { provider: 'https://api.anthropic.com', model: 'claude-opus-4-8' },
} as const;

describe.each([
  {
    api: 'responses' as const,
    events: RESPONSES,
    create: () => new ResponsesAccumulator(),
    refused: refusedByResponses,
  },
  { api: 'messages' as const, events: MESSAGES, create: () => new MessagesAccumulator(), refused: refusedByMessages },
])('$api', ({ api, events, create, refused }) => {
  test('damaged streams end with known errors, and the next request is accepted', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 5 }), fc.integer({ min: 1, max: 400 }), async (changes, size) => {
        const accumulator = create();
        const { parts, error } = await read(changed(events, changes), accumulator, size);
        if (error !== undefined) {
          expect(KNOWN.some((known) => error instanceof known)).toBe(true);
          return;
        }
        const finished = parts.filter(({ type }) => type === 'finished');
        expect(finished.length).toBeLessThanOrEqual(1);
        if (finished.length === 0 || accumulator.isTruncated) return;
        const origin = { api, ...ORIGIN[api], items: [...accumulator.items] };
        expect(await refused(continued(parts, origin))).toBeUndefined();
        const calls = parts.filter((part) => part.type === 'tool_call');
        if (changes.every(({ type }) => type !== 'damage')) {
          expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length);
        }
        // No call runs with other arguments than the model's. Messages does not repeat them at the end.
        const harmless = changes.every(({ type }) => type === 'repeat' || type === 'misnumber');
        if (harmless || (api === 'responses' && changes.every(({ type }) => type !== 'damage'))) {
          const args = calls.map((call) => call.arguments);
          expect(args.filter((text) => text === '' || text === '{}')).toEqual([]);
        }
      }),
      { numRuns: runs(300, 5000) },
    );
  });
});

test('chat: damaged streams end with known errors', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 5 }), fc.integer({ min: 1, max: 400 }), async (changes, size) => {
      const source = { provider: 'https://tea.example', model: 'm', contextWindow: 1000 };
      const { parts, error } = await read(changed(CHAT, changes), new StreamAccumulator(source), size);
      if (error !== undefined) expect(KNOWN.some((known) => error instanceof known)).toBe(true);
      expect(parts.filter(({ type }) => type === 'finished').length).toBeLessThanOrEqual(1);
    }),
    { numRuns: runs(300, 5000) },
  );
});
