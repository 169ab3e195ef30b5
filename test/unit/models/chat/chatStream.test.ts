// What a stream has besides text and calls: reasoning in each server's field, signatures, and every kind of usage.
import { expect, test } from 'vitest';
import { type ModelPart } from '../../../../src/core/ports/ports.ts';
import { StreamAccumulator } from '../../../../src/models/chat/chatStream.ts';

function answer(...chunks: readonly object[]): Extract<ModelPart, { type: 'finished' }> {
  const accumulator = new StreamAccumulator({ provider: 'https://a.example', model: 'm', contextWindow: 1000 });
  for (const chunk of chunks) accumulator.take(chunk);
  const last = accumulator.end().at(-1);
  if (last?.type !== 'finished') throw new Error('the answer has no end');
  return last;
}

const deltas = (...all: readonly object[]) => answer(...all.map((delta) => ({ choices: [{ delta }] })));
const text = (type: string, more: object) => ({ type, ...more });

test.each([
  ['reasoning_content', [{ reasoning_content: 'a' }, { reasoning_content: 'b' }], { reasoning_content: 'ab' }],
  ['reasoning', [{ reasoning: 'a' }, { reasoning: 'b' }], { reasoning: 'ab' }],
  ['both fields with the same text', [{ reasoning_content: 'a', reasoning: 'a' }], { reasoning_content: 'a' }],
  [
    'reasoning_text with its opaque form',
    [{ reasoning_text: 'a' }, { reasoning_opaque: 'xyz' }],
    { reasoning_text: 'a', reasoning_opaque: 'xyz' },
  ],
  [
    'thinking_blocks beside the text',
    [
      { reasoning_content: 'a', thinking_blocks: [text('thinking', { thinking: 'a', signature: '' })] },
      { reasoning_content: 'b', thinking_blocks: [text('thinking', { thinking: 'b' })] },
      { thinking_blocks: [text('thinking', { thinking: '', signature: 's' })] },
      { thinking_blocks: [text('thinking', { thinking: 'c', signature: 't' })] },
    ],
    {
      reasoning_content: 'ab',
      thinking_blocks: [
        text('thinking', { thinking: 'ab', signature: 's' }),
        text('thinking', { thinking: 'c', signature: 't' }),
      ],
    },
  ],
  [
    'reasoning_details of several indexes',
    [
      { reasoning_details: [text('reasoning.summary', { summary: 'a', index: 0 })] },
      { reasoning_details: [text('reasoning.summary', { summary: 'b', index: 0, format: 'f' })] },
      { reasoning_details: [text('reasoning.summary', { summary: 'c', index: 1 })] },
      {
        reasoning_details: [
          text('reasoning.encrypted', { data: 'x', index: 2 }),
          text('reasoning.encrypted', { data: 'y', index: 2 }),
        ],
      },
    ],
    {
      reasoning_details: [
        text('reasoning.summary', { summary: 'ab', index: 0, format: 'f' }),
        text('reasoning.summary', { summary: 'c', index: 1 }),
        text('reasoning.encrypted', { data: 'x', index: 2 }),
        text('reasoning.encrypted', { data: 'y', index: 2 }),
      ],
    },
  ],
] as const)('%s', (_name, sent, item) => {
  expect(deltas(...sent).origin).toEqual({ api: 'chat', provider: 'https://a.example', model: 'm', items: [item] });
});

test('an answer without anything to send back has no origin', () => {
  expect(
    deltas({ content: 'Hi.' }, { reasoning_content: '' }, { reasoning_details: null }, { thinking_blocks: 'x' }).origin,
  ).toBe(undefined);
});

test('thinking in parts of the content is reasoning, not text', () => {
  const accumulator = new StreamAccumulator({ provider: 'p', model: 'm', contextWindow: 1000 });
  const content = [text('thinking', { thinking: [text('text', { text: 'Hm.' })] }), text('text', { text: 'Yes.' })];
  expect(accumulator.take({ choices: [{ delta: { content } }] })).toEqual([
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Yes.' },
  ]);
});

const tokens = { prompt_tokens: 100, completion_tokens: 10 };

test.each([
  ['OpenAI', { ...tokens, prompt_tokens_details: { cached_tokens: 7 } }, { cached_tokens: 7 }],
  ['DeepSeek', { ...tokens, prompt_cache_hit_tokens: 7, prompt_cache_miss_tokens: 93 }, { cached_tokens: 7 }],
  ['Moonshot AI', { ...tokens, cached_tokens: 7 }, { cached_tokens: 7 }],
  [
    'OpenRouter',
    { ...tokens, cost: 0.25, prompt_tokens_details: { cached_tokens: 7, cache_write_tokens: 5 } },
    { cached_tokens: 7, written_tokens: 5, cost: 0.25 },
  ],
  ['a server without a cache', tokens, {}],
  ['nonsense', { ...tokens, cost: 'free', cached_tokens: -1 }, {}],
])('usage of %s', (_name, usage, expected) => {
  const counted = { input_tokens: 100, output_tokens: 10, ...expected };
  expect(answer({ choices: [], usage }).usage).toEqual(counted);
  // Some servers send it with the last choice.
  expect(answer({ choices: [{ delta: {}, finish_reason: 'stop', usage }] }).usage).toEqual(counted);
});

test('usage of llama.cpp has the tokens of its slot', () => {
  expect(answer({ choices: [], usage: tokens, timings: { cache_n: 64 } }).usage).toMatchObject({ cached_tokens: 64 });
});
