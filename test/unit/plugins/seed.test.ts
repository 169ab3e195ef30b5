// Every JSON example of the seed `rfd-d18-plugin-subscriptions-and-query-delegation.md`, with ids, times and elided texts put in.
import { expect, test } from 'vitest';
import { createPluginWorld } from '../../support/plugins/pluginWorld.ts';

test('the requests of the seed are accepted as they stand, and the answers have every field printed there', async () => {
  const world = await createPluginWorld({
    answers: [
      {
        text: ["Here's what I found..."],
        calls: [{ id: 'tc_1', name: 'run_command', arguments: { command: 'true' } }],
      },
      { calls: [{ id: 'tc_2', name: 'ask_user', arguments: { question: 'Which file?', options: ['a.rs', 'b.rs'] } }] },
      { text: ['Done.'] },
      { text: ['{"summary":"It does nothing."}'] },
    ],
  });
  const conversation = await world.conversation();
  const plugin = await world.attach('tea', { approve: true });

  plugin.send({
    type: 'subscribe',
    sub_id: 'chat-main',
    conversation,
    events: ['chat_response', 'tool_call_request', 'tool_call_response'],
  });
  expect(await plugin.next('subscribed')).toMatchObject({ type: 'subscribed', sub_id: 'chat-main' });

  plugin.send({ type: 'query', conversation, content: 'What files changed?' });
  expect(await plugin.next('query_started')).toMatchObject({ type: 'query_started', conversation });
  expect(await plugin.event(({ seq }) => seq !== undefined)).toMatchObject({
    type: 'event',
    sub_id: 'chat-main',
    data: { timestamp: expect.any(String) as string, type: 'chat_response', message: "Here's what I found..." },
  });

  expect(await plugin.event(({ respond }) => respond === 'tool_approval')).toMatchObject({
    type: 'event',
    sub_id: 'chat-main',
    respond: 'tool_approval',
    data: { type: 'tool_call_request', id: 'tc_1', name: 'run_command', arguments: { command: 'true' } },
  });
  plugin.send({
    type: 'respond',
    sub_id: 'chat-main',
    respond: 'tool_approval',
    tool_call_id: 'tc_1',
    action: 'approve',
  });

  const inquiry = await plugin.event(({ respond }) => respond === 'inquiry');
  expect(inquiry).toMatchObject({
    type: 'event',
    sub_id: 'chat-main',
    respond: 'inquiry',
    data: {
      type: 'inquiry_request',
      id: expect.any(String) as string,
      question: 'Which file?',
      options: ['a.rs', 'b.rs'],
    },
  });
  plugin.send({
    type: 'respond',
    sub_id: 'chat-main',
    respond: 'inquiry',
    inquiry_id: inquiry.data['id'],
    answer: 'a.rs',
  });
  expect(await plugin.event(({ data }) => data.type === 'query_complete')).toMatchObject({
    type: 'event',
    sub_id: 'chat-main',
    data: { type: 'query_complete' },
  });

  plugin.send({
    type: 'query',
    conversation,
    content: 'Summarize this file',
    attachments: [{ type: 'file_content', path: 'src/main.rs', content: 'fn main() {}' }],
    schema: { type: 'object', properties: { summary: { type: 'string' } }, required: ['summary'] },
  });
  expect(await plugin.next('query_started')).toMatchObject({ type: 'query_started', conversation });
  expect(await plugin.event(({ data }) => data.type === 'query_complete')).toMatchObject({
    data: { type: 'query_complete', data: { summary: 'It does nothing.' } },
  });

  plugin.send({ type: 'unsubscribe', sub_id: 'chat-main' });
  expect(await plugin.next('unsubscribed')).toMatchObject({ type: 'unsubscribed', sub_id: 'chat-main' });
  expect(plugin.received.filter(({ type }) => type === 'error')).toEqual([]);
});
