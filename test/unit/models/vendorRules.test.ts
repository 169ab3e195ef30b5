// The scripted endpoints refuse what the vendors refuse: without this, walks on them would prove nothing.
import { afterEach, expect, test } from 'vitest';
import { endAll } from '../../support/endings.ts';
import { startAnthropic, textContent, thinkingBlock, useBlock } from '../../support/models/native/anthropicEndpoint.ts';
import { type NativeEndpoint } from '../../support/models/native/nativeEndpoint.ts';
import { callItem, reasoningItem, startOpenAi, textItem } from '../../support/models/native/openaiEndpoint.ts';

afterEach(endAll);

type Json = Record<string, unknown>;

async function send(
  { address }: NativeEndpoint,
  path: string,
  body: Json,
  headers: Record<string, string>,
): Promise<string> {
  const response = await fetch(`${address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  return response.ok ? 'accepted' : (JSON.parse(text) as { error: { message: string } }).error.message;
}

const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' };
const output = { type: 'function_call_output', call_id: 'call_1', output: 'Seen.' };
const user = { role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] };
const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] };

const openAiCases: readonly (readonly [string, (issued: Json) => Json, RegExp])[] = [
  ['a whole conversation', (issued) => ({ input: [user, issued, call, output, user] }), /^accepted$/],
  ['a call without an output', (issued) => ({ input: [user, issued, call] }), /No tool output found/],
  ['a message before the output', (issued) => ({ input: [user, issued, call, user, output] }), /No tool output found/],
  ['an output without a call', () => ({ input: [user, output] }), /No tool call found/],
  ['a call without its reasoning', () => ({ input: [user, call, output] }), /without its required 'reasoning' item/],
  ['reasoning that nothing follows', (issued) => ({ input: [user, issued] }), /without its required following item/],
  ['reasoning before a message of the user', (issued) => ({ input: [issued, user] }), /required following item/],
  ['ids with store: false', () => ({ input: [user, { ...said, id: 'msg_1' }] }), /not persisted/],
  [
    'reasoning of another model',
    (issued) => ({ model: 'gpt-6.1-sol', input: [issued, said, user] }),
    /could not be verified/,
  ],
  [
    'foreign reasoning',
    () => ({ input: [{ type: 'reasoning', encrypted_content: 'x' }, said, user] }),
    /could not be verified/,
  ],
  ['input_text of the assistant', () => ({ input: [{ ...said, content: user.content }] }), /'input_text'/],
  ['a tool that is strict by default', () => ({ input: [user], tools: [{ name: 'look' }] }), /Invalid schema/],
  ['store by default', () => ({ input: [user], store: true }), /store/],
];

test.each(openAiCases)('OpenAI: %s', async (_name, change, said_) => {
  const endpoint = await startOpenAi(() => ({ items: [reasoningItem('Hm.'), callItem('call_1', 'look', {})] }));
  const headers = { authorization: 'Bearer k' };
  const body = { model: 'gpt-6-sol', store: false };
  const response = await fetch(`${endpoint.address}/v1/responses`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...body, input: [user] }),
  });
  const encrypted = /"encrypted_content":"(gAAA[^"]+)"/.exec(await response.text())?.[1];
  const issued = { type: 'reasoning', summary: [], encrypted_content: encrypted };
  expect(await send(endpoint, '/v1/responses', { ...body, ...change(issued) }, headers)).toMatch(said_);
});

test('OpenAI: tools on chat completions; Azure: mixed roles, and the key in another header', async () => {
  const openAi = await startOpenAi(() => ({ items: [textItem('Hi.')] }));
  const body = {
    model: 'gpt-6-sol',
    store: false,
    input: [user, { role: 'system', content: 'x' }, { role: 'developer', content: 'x' }],
  };
  expect(await send(openAi, '/v1/chat/completions', body, { authorization: 'Bearer k' })).toMatch(
    /use \/v1\/responses/,
  );
  expect(await send(openAi, '/v1/responses', body, { authorization: 'Bearer k' })).toBe('accepted');
  const azure = await startOpenAi(() => ({ items: [textItem('Hi.')] }), { azure: true });
  expect(await send(azure, '/openai/v1/responses', body, { 'api-key': 'k' })).toMatch(/cannot be mixed/);
  expect(await send(azure, '/openai/v1/responses', body, { authorization: 'Bearer k' })).toMatch(/bad key/);
});

const hello = { role: 'user', content: [textContent('Hello.')] };
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Seen.' };
const system = { role: 'system', content: [textContent('Facts.')] };

const claudeCases: readonly (readonly [string, (answer: Json) => Json, RegExp])[] = [
  [
    'a whole conversation',
    (answer) => ({ messages: [hello, answer, { role: 'user', content: [result, textContent('Stop.')] }, system] }),
    /^accepted$/,
  ],
  [
    'text before results',
    (answer) => ({ messages: [hello, answer, { role: 'user', content: [textContent('Stop.'), result] }] }),
    /without `tool_result` blocks immediately after/,
  ],
  ['missing results', (answer) => ({ messages: [hello, answer, hello] }), /without `tool_result`/],
  ['a result without a call', () => ({ messages: [{ role: 'user', content: [result] }] }), /unexpected `tool_use_id`/],
  [
    'a changed prefix under bound thinking',
    (answer) => ({
      messages: [{ role: 'user', content: [textContent('Hello!')] }, answer, { role: 'user', content: [result] }],
    }),
    /bound to a different conversation/,
  ],
  [
    'a changed system prompt under bound thinking',
    (answer) => ({ system: 'Other.', messages: [hello, answer, { role: 'user', content: [result] }] }),
    /bound to a different conversation/,
  ],
  [
    'modified thinking',
    (answer) => ({
      messages: [
        hello,
        {
          ...answer,
          content: [{ ...(answer['content'] as Json[])[0], thinking: 'Hmm.' }, (answer['content'] as Json[])[1]],
        },
        { role: 'user', content: [result] },
      ],
    }),
    /Invalid `signature`/,
  ],
  [
    'a missing signature',
    (answer) => ({
      messages: [
        hello,
        {
          ...answer,
          content: [{ ...(answer['content'] as Json[])[0], signature: '' }, (answer['content'] as Json[])[1]],
        },
        { role: 'user', content: [result] },
      ],
    }),
    /signature: Field required/,
  ],
  [
    'missing thinking',
    (answer) => ({
      messages: [
        hello,
        { ...answer, content: [(answer['content'] as Json[])[1]] },
        { role: 'user', content: [result] },
      ],
    }),
    /Expected `thinking`/,
  ],
  ['a system message first', () => ({ messages: [system, hello] }), /first message/],
  [
    'a system message between messages of the user',
    () => ({ messages: [hello, system, hello] }),
    /must follow a user message/,
  ],
  [
    'a system message on an older model',
    () => ({ model: 'claude-opus-4-7', messages: [hello, system] }),
    /role 'system' is not supported/,
  ],
  ['prefill', () => ({ messages: [hello, { role: 'assistant', content: [textContent('Hi')] }] }), /prefill/],
  [
    'a budget on a new model',
    () => ({ thinking: { type: 'enabled', budget_tokens: 1024 }, messages: [hello] }),
    /not supported on this model/,
  ],
  [
    'a budget over the limit',
    () => ({ model: 'claude-haiku-4-5', thinking: { type: 'enabled', budget_tokens: 5000 }, messages: [hello] }),
    /budget_tokens/,
  ],
  [
    'five breakpoints',
    () => ({
      messages: [
        { role: 'user', content: Array.from({ length: 5 }, () => ({ ...textContent('a'), cache_control: {} })) },
      ],
    }),
    /maximum of 4/,
  ],
  ['no limit', () => ({ max_tokens: undefined, messages: [hello] }), /max_tokens: Field required/],
  [
    'an image in a failed result',
    (answer) => ({
      messages: [
        hello,
        answer,
        { role: 'user', content: [{ ...result, is_error: true, content: [{ type: 'image' }] }] },
      ],
    }),
    /must be type "text"/,
  ],
  ['an empty text', () => ({ messages: [{ role: 'user', content: [textContent(' ')] }] }), /non-empty/],
  [
    'a foreign id',
    () => ({
      messages: [
        hello,
        { role: 'assistant', content: [thinkingBlock('x'), useBlock('functions.look:0', 'look', {})] },
        hello,
      ],
    }),
    /should match pattern/,
  ],
  [
    'a reference to an unknown tool',
    (answer) => ({
      messages: [
        hello,
        answer,
        { role: 'user', content: [{ ...result, content: [{ type: 'tool_reference', tool_name: 'x' }] }] },
      ],
    }),
    /unknown tool/,
  ],
];

test.each(claudeCases)('Anthropic: %s', async (_name, change, said_) => {
  const endpoint = await startAnthropic(() => ({ content: [thinkingBlock('Hm.'), useBlock('toolu_1', 'look', {})] }));
  const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };
  const body = { model: 'claude-opus-5-5', max_tokens: 4096, messages: [hello] };
  const response = await fetch(`${endpoint.address}/v1/messages`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const signature = /"signature":"([0-9a-f]{64})"/.exec(await response.text())?.[1];
  const answer = {
    role: 'assistant',
    content: [{ ...thinkingBlock('Hm.'), signature }, useBlock('toolu_1', 'look', {})],
  };
  expect(await send(endpoint, '/v1/messages', { ...body, ...change(answer) }, headers)).toMatch(said_);
});
