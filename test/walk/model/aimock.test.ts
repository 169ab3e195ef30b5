// Whole turns against a third-party mock endpoint: the requests in its journal, and its faults.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TITLE_PROMPT } from '../../../src/core/agent/titles.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

let mock: LLMock;
let headless: Headless;

beforeEach(async () => {
  mock = new LLMock({ port: 0 });
  await mock.start();
  mock.on({ systemMessage: TITLE_PROMPT }, { content: 'Aimock' });
  const model = createChatModel({ baseUrl: `${mock.url}/v1`, model: 'gpt-4o', apiKey: async () => 'k' });
  headless = await startHeadless({ model });
});
afterEach(async () => {
  await headless.end();
  await mock.stop();
});

async function say(text: string, id?: string) {
  const opened = id === undefined ? await headless.earshot.create() : await headless.earshot.open(id);
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  await headless.earshot.send(log.id, text);
  await headless.earshot.settled(log.id);
  return log;
}

/** The bodies of the turn's requests. */
function bodies() {
  return mock
    .getRequests()
    .map(({ body }) => body as unknown as { messages: { role: string; content: unknown }[] } & Record<string, unknown>)
    .filter(({ messages }) => messages[0]?.content !== TITLE_PROMPT);
}

test('a turn with a tool call sends exactly the expected requests', async () => {
  await writeFile(join(headless.folder, 'a.txt'), 'hello from the file\n');
  mock.on({ toolResultContains: 'hello from the file' }, { content: 'It says hello.' });
  mock.onMessage('Read a.txt.', { toolCalls: [{ id: 'call_a', name: 'read_file', arguments: '{"path":"a.txt"}' }] });
  const log = await say('Read a.txt.');
  expect(log.state.transcript.items.at(-1)).toMatchObject({ type: 'answer', text: 'It says hello.' });
  const [first, second] = bodies();
  expect(first).toMatchObject({ model: 'gpt-4o', stream: true, stream_options: { include_usage: true } });
  expect(second?.messages.slice(1)).toEqual([
    { role: 'user', content: 'Read a.txt.' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'read_file', arguments: '{"path":"a.txt"}' } }],
    },
    { role: 'tool', tool_call_id: 'call_a', content: 'hello from the file\n' },
  ]);
  expect(log.state.usage.total.input).toBeGreaterThan(0);
});

test('reasoning is kept separate from the answer', async () => {
  mock.onMessage('Think.', { content: 'Done.', reasoning: 'First this, then that.' });
  const log = await say('Think.');
  expect(log.state.transcript.items.at(-1)).toMatchObject({ text: 'Done.', reasoning: 'First this, then that.' });
});

test('an error is shown with its next step, and the next request works', async () => {
  mock.onMessage('Again.', { content: 'Here.' });
  mock.nextRequestError(401, { message: 'bad key' });
  const log = await say('Hello.');
  expect(log.state.transcript.items.at(-1)).toMatchObject({ type: 'notice', level: 'error' });
  await say('Again.', log.id);
  expect(log.state.transcript.items.at(-1)).toMatchObject({ type: 'answer', text: 'Here.' });
});
