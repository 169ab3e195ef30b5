// Placement of a block for endpoints that accept parts, developer messages or neither.
import { expect, test } from 'vitest';
import { type Block, type ModelMessage } from '../../../../src/core/ports/modelMessages.ts';
import { toWireMessages } from '../../../../src/models/chat/chatMessages.ts';
import { CAREFUL, type EndpointProfile, shippedProfile } from '../../../../src/models/profile.ts';

const openAi = shippedProfile('https://api.openai.com/v1');

function wire(block: Block, profile: EndpointProfile): unknown[] {
  const messages: ModelMessage[] = [
    { role: 'user', content: 'words', block },
    { role: 'assistant', content: '', calls: [{ id: 'c', name: 'list_files', arguments: '{}' }] },
    { role: 'tool', call: 'c', content: 'result', block },
  ];
  return toWireMessages({ system: 'system', messages, tools: [] }, profile).filter((_, index) => index !== 0);
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

test('an endpoint that rejects late system messages gets the block as a user message', () => {
  const sent = wire({ format: 'developer', text: 'block' }, CAREFUL);
  expect(sent.filter((message) => (message as { role: string }).role === 'system')).toEqual([]);
  expect(JSON.stringify(sent).split('block')).toHaveLength(3);
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
