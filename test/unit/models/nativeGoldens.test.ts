// The requests of one and the same conversation on Responses and Messages: parallel calls, an image, thinking, a
// notification, queued messages, a refused call, an interruption, a compaction, and another provider in the middle.
// OpenAI's OpenAPI document judges those of Responses.
import { expect, test } from 'vitest';
import { type WireOrigin } from '../../../src/protocol/event.ts';
import { messagesBody, responsesBody } from '../../support/models/native/printedRequests.ts';
import { refusedByDocument } from '../../support/models/openaiDocument.ts';
import { type SharedAnswer, sharedConversation } from '../../support/models/sharedConversation.ts';

const OPENAI = 'https://api.openai.com';
const ANTHROPIC = 'https://api.anthropic.com';

function responsesOrigin({ reasoning, text, calls }: SharedAnswer, number: number): WireOrigin {
  const items = [
    ...(reasoning === undefined
      ? []
      : [
          {
            id: `rs_${number}`,
            type: 'reasoning',
            summary: [{ type: 'summary_text', text: reasoning }],
            encrypted_content: `encrypted ${number}`,
          },
        ]),
    ...(text === undefined
      ? []
      : [
          {
            id: `msg_${number}`,
            type: 'message',
            role: 'assistant',
            status: 'completed',
            phase: calls.length > 0 ? 'commentary' : 'final_answer',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]),
    ...calls.map(({ id, name, arguments: args }) => ({
      id: `fc_${id}`,
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    })),
  ];
  return { api: 'responses', provider: OPENAI, model: 'gpt-6-sol', items };
}

function messagesOrigin({ reasoning, text, calls }: SharedAnswer, number: number): WireOrigin {
  const items = [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature: `signature ${number}` }]),
    ...(text === undefined ? [] : [{ type: 'text', text, citations: null }]),
    ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
  ];
  return { api: 'messages', provider: ANTHROPIC, model: 'claude-opus-5-5', items };
}

/** Each element of a list in its own line. */
function print(body: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(body).flatMap(([name, value]) =>
    Array.isArray(value)
      ? [`${name}:`, ...value.map((element) => `  ${JSON.stringify(element)}`)]
      : [`${name}: ${JSON.stringify(value)}`],
  );
  return `${lines.join('\n')}\n`;
}

test.each(sharedConversation(responsesOrigin, 'developer'))('Responses: $name', async ({ name, request }) => {
  const body = await responsesBody('gpt-6-sol', request);
  expect(refusedByDocument('CreateResponse', body)).toEqual([]);
  await expect(print(body)).toMatchFileSnapshot(`golden/responses-${name.replace(' ', '-')}.golden.txt`);
});

test.each(sharedConversation(messagesOrigin, 'developer'))('Messages, Claude: $name', async ({ name, request }) => {
  const body = await messagesBody('claude-opus-5-5', request);
  await expect(print(body)).toMatchFileSnapshot(`golden/messages-${name.replace(' ', '-')}.golden.txt`);
});

test.each(sharedConversation(() => undefined, 'xml'))(
  'Messages, a compatible server: $name',
  async ({ name, request }) => {
    const body = await messagesBody('MiniMax-M3', request, { baseUrl: 'https://api.minimax.io/anthropic' });
    await expect(print(body)).toMatchFileSnapshot(`golden/compatible-${name.replace(' ', '-')}.golden.txt`);
  },
);
