// Placement of a block for endpoints that accept parts, developer messages or neither.
import { expect, test } from 'vitest';
import { type Block, type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { type ChatForm, chatForm, toWireMessages } from '../../../../src/models/chat/chatModel.ts';
import { CAREFUL } from '../../../../src/models/profile.ts';

const openAi = chatForm('https://api.openai.com/v1', 'gpt-5.5');
const elsewhere = chatForm('https://elsewhere.example/v1', 'm');

function wire(block: Block, form: ChatForm): unknown[] {
  const messages: ModelMessage[] = [
    { role: 'user', content: 'words', block },
    { role: 'assistant', content: '', calls: [{ id: 'c', name: 'list_files', arguments: '{}' }] },
    { role: 'tool', call: 'c', content: 'result', block },
  ];
  return toWireMessages({ system: 'system', messages, tools: [] }, form).filter((_, index) => index !== 0);
}

const called = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'list_files', arguments: '{}' } }],
};

test('an xml block is a separate part if the endpoint accepts parts', () => {
  expect(wire({ format: 'xml', text: 'block' }, openAi)).toEqual([
    { role: 'user', content: 'block\n\nwords' },
    called,
    {
      role: 'tool',
      tool_call_id: 'c',
      content: [
        { type: 'text', text: 'result' },
        { type: 'text', text: 'block' },
      ],
    },
  ]);
});

test('a developer block has the role that the endpoint supports', () => {
  expect(wire({ format: 'developer', text: 'block' }, openAi)).toEqual([
    { role: 'developer', content: 'block' },
    { role: 'user', content: 'words' },
    called,
    { role: 'tool', tool_call_id: 'c', content: 'result' },
    { role: 'developer', content: 'block' },
  ]);
});

test('an endpoint that is not verified to read late system messages gets the block in the request and in the result', () => {
  const careful = chatForm('https://elsewhere.example/v1', 'm', CAREFUL);
  for (const form of [elsewhere, careful]) {
    expect(wire({ format: 'developer', text: 'block' }, form)).toEqual([
      { role: 'user', content: 'block\n\nwords' },
      { ...called, content: '' },
      { role: 'tool', tool_call_id: 'c', content: 'result\n\nblock' },
    ]);
  }
});

test('a synthetic call and its result have the carrier’s id', () => {
  const sent = wire({ format: 'synthetic-tool', text: 'block', id: 'e1' }, openAi);
  expect(sent.slice(0, 3)).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'notification_e1', type: 'function', function: { name: '_system_notification', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'notification_e1', content: 'block' },
    { role: 'user', content: 'words' },
  ]);
});
