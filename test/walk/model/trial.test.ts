// The trial against a third-party mock endpoint: every situation runs in every format and is judged by the answer.
import { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { SITUATIONS } from '../../trial/situations.ts';
import { printTrial, runTrial } from '../../trial/trial.ts';

let mock: LLMock;
beforeEach(async () => {
  mock = new LLMock({ port: 0 });
  await mock.start();
});
afterEach(() => mock.stop());

const counts = (played: Awaited<ReturnType<typeof runTrial>>, format: string) => {
  const verdicts = played.filter((one) => one.format === format).map(({ verdict }) => verdict);
  return Object.fromEntries(
    ['acted', 'ignored', 'user_voice', 'failed'].map((name) => [name, verdicts.filter((one) => one === name).length]),
  );
};

test('twenty situations in four formats are judged by the answers', async () => {
  // This model reacts only to XML blocks on tool results, and treats others as the user's text.
  const sees = (pattern: RegExp) => (request: { messages: { role: string; content: unknown }[] }) =>
    pattern.test(JSON.stringify(request.messages.filter(({ role }) => role === 'tool')));
  mock.on(
    { predicate: sees(/<notification [^>]*key=/) },
    { toolCalls: [{ name: 'read_file', arguments: '{"path":"src/port.ts"}' }] },
  );
  mock.on({ predicate: () => true }, { content: 'Thanks for letting me know.' });
  const model = createChatModel({ baseUrl: `${mock.url}/v1`, model: 'gpt-4o', apiKey: async () => 'k' });
  const played = await runTrial(model, new AbortController().signal);
  expect(played).toHaveLength(SITUATIONS.length * 4);
  expect(SITUATIONS).toHaveLength(20);
  expect(counts(played, 'xml')).toMatchObject({ user_voice: 0, failed: 0 });
  expect(counts(played, 'xml')['acted']).toBeGreaterThan(0);
  expect(counts(played, 'developer')).toMatchObject({ user_voice: 20 });
  expect(printTrial(played).split('\n')).toHaveLength(5);
});

test('a failing endpoint is counted as a failure', async () => {
  const model = createChatModel({ baseUrl: 'http://127.0.0.1:1/v1', model: 'm', apiKey: async () => 'k' });
  const played = await runTrial(model, new AbortController().signal);
  expect(new Set(played.map(({ verdict }) => verdict))).toEqual(new Set(['failed']));
});
