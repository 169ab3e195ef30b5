// OpenAI's OpenAPI document as judge of whole requests: what it refuses, and that it accepts each option.
import { expect, test } from 'vitest';
import { type ModelRequest } from '../../../src/core/ports/ports.ts';
import { printBody } from '../../../src/models/chat/chatModel.ts';
import { shippedProfile } from '../../../src/models/profile.ts';
import { PrefixPrinter } from '../../../src/models/wire/prefixPrinter.ts';
import { type WireOrigin } from '../../../src/protocol/event.ts';
import { type Effort, type ModelOptions } from '../../../src/protocol/settings.ts';
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

test('GPT-6: a found tool, a changed effort and an image in a result', async () => {
  const origin = (number: number, effort: Effort, ...items: object[]): WireOrigin => ({
    ...{ api: 'responses', provider: 'https://api.openai.com', model: 'gpt-6-sol' },
    items: [
      { type: 'configuration_update', reasoning: { effort }, text: { format: { type: 'text' } } },
      { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: `encrypted ${number}` },
      ...items,
    ],
  });
  const called = (name: string) => ({ id: `call_${name}`, name, arguments: '{}' });
  const item = (name: string) => ({
    type: 'function_call',
    id: `fc_${name}`,
    call_id: `call_${name}`,
    name,
    arguments: '{}',
  });
  const image = { hash: 'h', mediaType: 'image/png', name: 'cat.png' };
  const request: ModelRequest = {
    ...asked,
    effort: 'max',
    found: [{ name: 'deploy', description: 'Deploys.', parameters: { type: 'object', properties: {} } }],
    image: async () => new Uint8Array([1]),
    messages: [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: '', calls: [called('look')], origin: origin(1, 'low', item('look')) },
      { role: 'tool', call: 'call_look', content: 'A cat.', resultImages: [image] },
      { role: 'assistant', content: '', calls: [called('find')], origin: origin(2, 'high', item('find')) },
      { role: 'tool', call: 'call_find', content: 'Found.', found: ['deploy'] },
    ],
  };
  const body = await responsesBody('gpt-6-sol', request);
  expect(refusedByDocument('CreateResponse', body)).toEqual([]);
  const lines = (body['input'] as object[]).map((one) => JSON.stringify(one));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/responses-changes.golden.txt');
});

const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' };
const found = { type: 'additional_tools', role: 'developer' };

test.each([
  ['an unknown parameter', { inputs: [] }],
  ['a text of the user as an output', { input: [{ role: 'user', content: [{ type: 'output_text', text: 'a' }] }] }],
  ['arguments that are an object', { input: [{ ...call, arguments: {} }] }],
  ['an output without its call', { input: [{ type: 'function_call_output', output: 'a' }] }],
  ['a long id', { input: [{ type: 'function_call_output', call_id: 'c'.repeat(65), output: 'a' }] }],
  ['an unknown effort', { reasoning: { effort: 'huge' } }],
  ['an unknown effort of an update', { input: [{ type: 'configuration_update', reasoning: { effort: 'huge' } }] }],
  ['found tools of the user', { input: [{ type: 'additional_tools', role: 'user', tools: [] }] }],
  ['a found tool of chat', { input: [{ ...found, tools: [{ type: 'function', function: { name: 'look' } }] }] }],
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
