// OpenAI's own accumulator of chat streams as judge: of streams that are well defined there, ours makes the same text,
// refusal, calls and usage. What servers send besides (whole calls without an index, reasoning) is in chatStream.test.ts.
import fc from 'fast-check';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { type ModelPart } from '../../../../src/core/ports/ports.ts';
import { createChatModel } from '../../../../src/models/chat/chatModel.ts';
import { runs } from '../../../support/runs.ts';
import { redirectHost } from '../../../support/models/vendorHosts.ts';
import { startNativeEndpoint } from '../../../support/models/native/nativeEndpoint.ts';
import { endAll } from '../../../support/endings.ts';

interface Heard {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly truncated: boolean;
  readonly usage: unknown;
}

const BASE = 'https://api.openai.com/v1';

function toSse(chunks: readonly object[]): string {
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

async function official(sse: string): Promise<Heard> {
  const fetch = async () => new Response(sse, { headers: { 'content-type': 'text/event-stream' } });
  const client = new OpenAI({ apiKey: 'k', baseURL: BASE, fetch });
  const request = { model: 'gpt-5.4', messages: [{ role: 'user' as const, content: 'Hi.' }] };
  const whole = await client.chat.completions.stream(request).finalChatCompletion();
  const [choice] = whole.choices;
  const { message, finish_reason: reason } = choice ?? {};
  return {
    text: `${message?.content ?? ''}${message?.refusal ?? ''}`,
    calls: (message?.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? [{ id: call.id, name: call.function.name, arguments: call.function.arguments }] : [],
    ),
    truncated: reason === 'length',
    usage: whole.usage && {
      input_tokens: whole.usage.prompt_tokens,
      output_tokens: whole.usage.completion_tokens,
      cached_tokens: whole.usage.prompt_tokens_details?.cached_tokens,
    },
  };
}

async function ours(sse: string): Promise<Heard> {
  const endpoint = await startNativeEndpoint({ title: '', reply: () => ({ sse }) });
  const end = redirectHost(BASE, endpoint.address);
  const model = createChatModel({ baseUrl: BASE, model: 'gpt-5.4', apiKey: async () => 'k' });
  const request = { system: '', messages: [{ role: 'user', content: 'Hi.' }], tools: [] } as const;
  const parts: ModelPart[] = await Array.fromAsync(model.stream(request, new AbortController().signal));
  end();
  const last = parts.at(-1);
  if (last?.type !== 'finished') throw new Error(JSON.stringify(last));
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: parts.flatMap((part) =>
      part.type === 'tool_call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
    ),
    truncated: last.truncated === true,
    usage: last.usage,
  };
}

const chunk = (delta: object, reason: string | null = null) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-5.4' },
  choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }],
});
const usage = {
  prompt_tokens: 20,
  completion_tokens: 5,
  total_tokens: 25,
  prompt_tokens_details: { cached_tokens: 12 },
};
const counted = { ...chunk({}), choices: [], usage };
const begin = (index: number, name = 'look') => ({
  tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }],
});
const more = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
const opening = chunk({ role: 'assistant', content: '' });

test.each<[string, readonly object[]]>([
  ['text', [opening, chunk({ content: 'Hel' }), chunk({ content: 'lo. “ä”' }), chunk({}, 'stop'), counted]],
  ['without usage', [opening, chunk({ content: 'Hello.' }), chunk({}, 'stop')]],
  ['usage in the last chunk with a choice', [opening, chunk({ content: 'a' }), { ...chunk({}, 'stop'), usage }]],
  [
    'a refusal',
    [
      chunk({ role: 'assistant', refusal: '' }),
      chunk({ refusal: 'I ' }),
      chunk({ refusal: 'cannot.' }),
      chunk({}, 'stop'),
      counted,
    ],
  ],
  [
    'one call',
    [opening, chunk(begin(0)), chunk(more(0, '{"a"')), chunk(more(0, ':1}')), chunk({}, 'tool_calls'), counted],
  ],
  [
    'text, then a call',
    [opening, chunk({ content: 'I look.' }), chunk(begin(0)), chunk(more(0, '{}')), chunk({}, 'tool_calls')],
  ],
  [
    'calls one after another',
    [
      opening,
      chunk(begin(0)),
      chunk(more(0, '{"a":1}')),
      chunk(begin(1, 'edit')),
      chunk(more(1, '{"b":2}')),
      chunk({}, 'tool_calls'),
    ],
  ],
  [
    'calls whose pieces alternate',
    [
      opening,
      chunk(begin(0)),
      chunk(begin(1, 'edit')),
      chunk(more(1, '{"b"')),
      chunk(more(0, '{"a"')),
      chunk(more(0, ':1}')),
      chunk(more(1, ':2}')),
      chunk({}, 'tool_calls'),
    ],
  ],
  [
    'two calls in one chunk',
    [
      opening,
      chunk({ tool_calls: [...begin(0).tool_calls, ...begin(1, 'edit').tool_calls] }),
      chunk({ tool_calls: [...more(0, '{}').tool_calls, ...more(1, '{"b":2}').tool_calls] }),
      chunk({}, 'tool_calls'),
    ],
  ],
])('%s', async (_name, chunks) => {
  const sse = toSse(chunks);
  expect(await ours(sse)).toEqual(await official(sse));
  await endAll();
});

test('of a cut answer both have the text; the call in it is cut too, so that only the judge has it', async () => {
  const sse = toSse([
    opening,
    chunk({ content: 'Half' }),
    chunk(begin(0)),
    chunk(more(0, '{"a"')),
    chunk({}, 'length'),
  ]);
  const judge = await official(sse);
  expect(judge.calls).toHaveLength(1);
  expect(await ours(sse)).toEqual({ ...judge, calls: [] });
  await endAll();
});

test('random texts and calls in random pieces', { timeout: 120_000 }, async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 });
  const call = fc.record({ name: fc.constantFrom('look', 'edit'), value: text });
  const cut = fc.array(fc.nat(20), { maxLength: 5 });
  const played = fc.asyncProperty(text, fc.array(call, { maxLength: 3 }), cut, async (said, calls, cuts) => {
    const pieces = (whole: string) => {
      const at = [...new Set(cuts.map((one) => one % (whole.length + 1)))].sort((a, b) => a - b);
      return [0, ...at].map((from, index) => whole.slice(from, at[index] ?? whole.length));
    };
    const queues = calls.map(({ name, value }, index) => [
      begin(index, name),
      ...pieces(JSON.stringify({ value })).map((piece) => more(index, piece)),
    ]);
    const mixed: object[] = [];
    for (let turn = 0; queues.some((queue) => queue.length > 0); turn += 1) {
      const next = queues[turn % queues.length]?.shift();
      if (next !== undefined) mixed.push(next);
    }
    const chunks = [...pieces(said).map((content) => ({ content })), ...mixed].map((delta) => chunk(delta));
    // The package refuses an answer with neither text nor calls.
    if (said === '' && calls.length === 0) return;
    const sse = toSse([opening, ...chunks, chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'), counted]);
    expect(await ours(sse)).toEqual(await official(sse));
    await endAll();
  });
  await fc.assert(played, { numRuns: runs(30, 500) });
});
