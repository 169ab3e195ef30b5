// OpenAI's OpenAPI document as judge of whole requests: what it refuses, and that it accepts each option.
import { expect, test } from 'vitest';
import { type ModelRequest } from '../../../src/core/ports/ports.ts';
import { printBody } from '../../../src/models/chat/chatModel.ts';
import { shippedProfile } from '../../../src/models/profile.ts';
import { PrefixPrinter } from '../../../src/models/wire/prefixPrinter.ts';
import { type ModelOptions } from '../../../src/protocol/settings.ts';
import { responsesBody } from '../../support/models/native/printedRequests.ts';
import { refusedByDocument } from '../../support/models/openaiDocument.ts';

const asked: ModelRequest = {
  conversation: 'c1',
  system: 'You are Earshot.',
  tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }],
  messages: [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: 'I look.', calls: [{ id: 'call_1', name: 'look', arguments: '{}' }] },
    { role: 'tool', call: 'call_1', content: 'A cat.', queued: ['And a dog?'] },
  ],
};
const schema = { type: 'object', properties: { answer: { type: 'string' } } };

const REQUESTS: readonly (readonly [string, ModelRequest, ModelOptions])[] = [
  ['plain', asked, {}],
  ['options', asked, { reasoningEffort: 'high', maxTokens: 9000, temperature: 1 }],
  ['plan mode', { ...asked, allowed: ['look'] }, {}],
  ['no calls', { ...asked, allowed: 'none' }, {}],
  ['a schema', { ...asked, schema }, {}],
  ['no tools', { ...asked, tools: [], messages: asked.messages.slice(0, 1) }, {}],
];

test.each(REQUESTS)('Responses: %s', async (_name, request, options) => {
  const body = await responsesBody('gpt-5.4', request, { options });
  expect(refusedByDocument('CreateResponse', body)).toEqual([]);
});

test.each(REQUESTS)('chat: %s', (_name, request, options) => {
  const baseUrl = 'https://api.openai.com/v1';
  const endpoint = { baseUrl, model: 'gpt-5.4', apiKey: async () => undefined, options };
  const facts = { profile: shippedProfile(baseUrl, 'gpt-5.4'), without: [] };
  const body = JSON.parse(printBody(endpoint, request, facts, new Map(), new PrefixPrinter()).toString()) as object;
  expect(refusedByDocument('CreateChatCompletionRequest', body)).toEqual([]);
});

const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' };

test.each([
  ['an unknown parameter', { inputs: [] }],
  ['a text of the user as an output', { input: [{ role: 'user', content: [{ type: 'output_text', text: 'a' }] }] }],
  ['arguments that are an object', { input: [{ ...call, arguments: {} }] }],
  ['an output without its call', { input: [{ type: 'function_call_output', output: 'a' }] }],
  ['a long id', { input: [{ type: 'function_call_output', call_id: 'c'.repeat(65), output: 'a' }] }],
  ['an unknown effort', { reasoning: { effort: 'huge' } }],
  ['a tool of chat', { tools: [{ type: 'function', function: { name: 'look', parameters: {} } }] }],
])('the document refuses on Responses: %s', (_name, wrong) => {
  expect(refusedByDocument('CreateResponse', { model: 'gpt-5.4', input: [], ...wrong })).not.toEqual([]);
});

test.each([
  ['an unknown parameter', { input: [] }],
  ['a tool message without its call', { messages: [{ role: 'tool', content: 'a' }] }],
  ['an unknown role', { messages: [{ role: 'host', content: 'a' }] }],
  ['a tool of Responses', { tools: [{ type: 'function', name: 'look', parameters: {} }] }],
  ['an unknown format', { response_format: { type: 'yaml' } }],
])('the document refuses on chat: %s', (_name, wrong) => {
  const right = { model: 'gpt-5.4', messages: [{ role: 'user', content: 'a' }] };
  expect(refusedByDocument('CreateChatCompletionRequest', right)).toEqual([]);
  expect(refusedByDocument('CreateChatCompletionRequest', { ...right, ...wrong })).not.toEqual([]);
});
