// The API, the address and the headers of an endpoint.
import { expect, test } from 'vitest';
import { apiBase, apiOf, keyHeaders } from '../../../src/models/api.ts';
import { createModel } from '../../../src/models/model.ts';

test.each([
  ['https://api.openai.com/v1', 'responses'],
  ['https://tea.openai.azure.com/openai/v1', 'responses'],
  ['https://eu.api.openai.com/v1', 'responses'],
  ['https://api.x.ai/v1', 'responses'],
  ['https://eu-west-1.api.x.ai/v1', 'responses'],
  ['https://api.meta.ai/v1', 'responses'],
  ['https://api.anthropic.com/v1', 'messages'],
  ['https://api.minimax.io/anthropic', 'messages'],
  ['https://api.deepseek.com/anthropic/', 'messages'],
  ['https://tea.services.ai.azure.com/anthropic', 'messages'],
  ['http://127.0.0.1:8080/v1', 'chat'],
  ['https://openrouter.ai/api/v1', 'chat'],
  ['https://api.openai.com.evil.example/v1', 'chat'],
])('%s serves %s best', (baseUrl, api) => {
  expect(apiOf(baseUrl)).toBe(api);
});

test.each([
  ['messages', 'https://api.anthropic.com', 'https://api.anthropic.com/v1'],
  ['messages', 'https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1'],
  ['messages', 'https://api.minimax.io/anthropic', 'https://api.minimax.io/anthropic/v1'],
  ['messages', 'https://tea.services.ai.azure.com/anthropic', 'https://tea.services.ai.azure.com/anthropic/v1'],
  ['responses', 'https://tea.openai.azure.com', 'https://tea.openai.azure.com/openai/v1'],
  ['responses', 'https://tea.openai.azure.com/openai/v1/', 'https://tea.openai.azure.com/openai/v1'],
  ['chat', 'http://127.0.0.1:8080/v1', 'http://127.0.0.1:8080/v1'],
] as const)('the base of %s at %s', (api, baseUrl, base) => {
  expect(apiBase(api, baseUrl)).toBe(base);
});

test('the key goes where the endpoint expects it', () => {
  const version = { 'anthropic-version': '2023-06-01', 'x-api-key': 'k' };
  expect(keyHeaders('messages', 'https://api.anthropic.com', 'k')).toEqual(version);
  expect(keyHeaders('messages', 'https://api.minimax.io/anthropic', 'k')).toEqual({
    ...version,
    authorization: 'Bearer k',
  });
  expect(keyHeaders('responses', 'https://tea.openai.azure.com', 'k')).toEqual({ 'api-key': 'k' });
  expect(keyHeaders('chat', 'https://api.openai.com/v1', 'k')).toEqual({ authorization: 'Bearer k' });
});

test('the settings decide before the address, and only verified models get notifications as host messages', () => {
  const made = (baseUrl: string, model: string, api?: 'chat' | 'messages' | 'responses') =>
    createModel({ baseUrl, model, api, apiKey: async () => 'k' });
  expect(made('https://api.openai.com/v1', 'gpt-6-sol').takesHostMessages).toBe(true);
  expect(made('https://api.openai.com/v1', 'gpt-4o', 'chat').takesHostMessages).toBeUndefined();
  expect(made('https://api.anthropic.com/v1', 'claude-opus-5-5').takesHostMessages).toBe(true);
  expect(made('https://api.anthropic.com/v1', 'claude-sonnet-5').takesHostMessages).toBeUndefined();
  expect(made('https://gateway.example', 'claude-haiku-5-5', 'messages').takesHostMessages).toBe(true);
  expect(made('https://api.minimax.io/anthropic', 'MiniMax-M3').takesHostMessages).toBeUndefined();
});
