// Sentences with which vendors say that a request is too long, and others that only look like it.
import { expect, test } from 'vitest';
import { explain } from '../../../src/models/explain.ts';
import { isOverflow } from '../../../src/models/overflow.ts';

test.each([
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
  'Your input exceeds the context window of this model',
  'prompt is too long: 213462 tokens > 200000 maximum',
  'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  'Please reduce the length of the messages or completion.',
  'the request exceeds the available context size, try increasing it',
  'The number of tokens to keep from the initial prompt is greater than the context length',
  'input is too long for requested model',
  'Prompt contains 40960 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
  'Prompt exceeds max length',
  'Range of input length should be [1, 129024]',
  'Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)',
  'invalid params, context window exceeds limit',
  'prompt token count of 130000 exceeds the limit of 128000',
  "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
  'prompt too long; exceeded max context length by 4 tokens',
  'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
  '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`',
  'too many tokens: total number of tokens in the prompt exceeds the limit',
])('%s', (sentence) => expect(isOverflow(sentence)).toBe(true));

test.each([
  'Rate limit reached: too many tokens per minute',
  'Too many requests. The request exceeds the context quota',
  'max_tokens is too large: 99999',
  'messages: bad',
])('not: %s', (sentence) => expect(isOverflow(sentence)).toBe(false));

test('a code is enough', () => {
  for (const code of ['context_length_exceeded', '1261', 'exceed_context_size_error'])
    expect(isOverflow('bad', code)).toBe(true);
});

test('status 400 without a body is too long a request at Cerebras, and nowhere else', () => {
  const refused = (baseUrl: string) => {
    const error = Object.assign(new Error('400 status code (no body)'), { status: 400, headers: new Headers() });
    return explain(error, { baseUrl, model: 'm' }).failure.code;
  };
  expect(refused('https://api.cerebras.ai/v1')).toBe('context_overflow');
  expect(refused('https://api.cerebras.ai.evil.example/v1')).toBe('bad_request');
  expect(refused('https://a.example/v1')).toBe('bad_request');
});

const endpoint = { baseUrl: 'https://a.example/v1', model: 'm' };
const refusal = (status: number, more: object = {}, headers: Record<string, string> = {}) =>
  explain(Object.assign(new Error('said'), { status, headers: new Headers(headers), ...more }), endpoint, 0);

test('the endpoint’s advice about retries comes first; missing credit is never retried', () => {
  expect(refusal(500).retry).toEqual({});
  expect(refusal(500, {}, { 'x-should-retry': 'false' }).retry).toBe(undefined);
  expect(refusal(400, {}, { 'x-should-retry': 'true', 'retry-after-ms': '250' }).retry).toEqual({
    afterMilliseconds: 250,
  });
  expect(refusal(429, {}, { 'retry-after': '3' }).retry).toEqual({ afterMilliseconds: 3000 });
  expect(refusal(402, {}, { 'x-should-retry': 'true' }).retry).toBe(undefined);
  for (const field of ['code', 'type']) {
    expect(refusal(429, { [field]: 'insufficient_quota' })).toMatchObject({ failure: { code: 'no_quota' } });
    expect(refusal(429, { [field]: 'insufficient_quota' }).retry).toBe(undefined);
  }
  // Groq: the call that the model wrote is not valid.
  expect(refusal(400, { code: 'tool_use_failed' }).retry).toEqual({});
  // Cerebras and GitHub Copilot answer a request that is too long without a useful message.
  expect(refusal(413).failure.code).toBe('context_overflow');
});
