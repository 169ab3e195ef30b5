// The four formats on the wire: the position and bytes of the block in the HTTP request, which never change later.
import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { type ConversationLog } from '../../../src/core/conversation/log.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { type Carried, type LogEvent } from '../../../src/protocol/event.ts';
import { type NotificationDraft } from '../../../src/protocol/notification.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { redirectHost } from '../../support/models/vendorHosts.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

const word = () => `w${randomBytes(4).toString('hex')}`;

let headless: Headless | undefined;
let server: ScriptedServer | undefined;
let endRedirection: () => void = () => undefined;

afterEach(async () => {
  endRedirection();
  await headless?.end();
  await server?.stop();
});

interface Walk {
  readonly server: ScriptedServer;
  readonly log: ConversationLog;
  readonly words: { readonly request: string; readonly output: string; readonly call: string; readonly answer: string };
  /** The carrier, exactly as in the log. */
  readonly onRequest: Carried & { readonly event: string };
  readonly onResult: Carried & { readonly event: string };
  readonly messages: (request: number) => unknown[];
}

const facts = { first: `switched to ${word()} <b>&]]>`, second: `switched to ${word()}`, user: `also ${word()}` };

function headChanged(message: string): NotificationDraft {
  const at = new Date().toISOString();
  return { kind: { source: 'git', name: 'head_changed' }, level: 'warning', message, origin: 'filesystem', at };
}

const UNKNOWN = { model: 'scripted' };

/** One notification is pending when the user writes; another one and a queued message arrive while the tool runs. */
async function walk(
  format: Carried['format'] | 'auto',
  endpoint: { readonly model: string; readonly baseUrl?: string } = UNKNOWN,
): Promise<Walk> {
  const words = { request: word(), output: word(), call: word(), answer: word() };
  const command = `echo ${words.output}`;
  server = await startScriptedServer(
    { calls: [{ id: words.call, name: 'run_command', arguments: { command } }] },
    { text: [words.answer] },
    { text: ['Again.'] },
  );
  if (endpoint.baseUrl !== undefined) endRedirection = redirectHost(endpoint.baseUrl, server.baseUrl);
  headless = await startHeadless({
    model: createChatModel({ baseUrl: server.baseUrl, ...endpoint, apiKey: async () => undefined }),
    settings: { 'notifications.format': format },
  });
  const { earshot, frontend } = headless;
  const opened = await earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { log } = opened.value;
  await earshot.publish(headChanged(facts.first));
  frontend.answer = async () => {
    await earshot.publish(headChanged(facts.second));
    await log.append({ type: 'user_text_queued', content: facts.user });
    return { action: 'approve', by: 'user' };
  };
  expect(await earshot.send(log.id, words.request)).toMatchObject({ ok: true });
  await earshot.settled(log.id);
  await earshot.send(log.id, 'And now?');
  await earshot.settled(log.id);
  expect(headless.errors).toEqual([]);
  const events = (await headless.events(log.id))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LogEvent);
  const [onRequest, onResult] = events.flatMap((event) =>
    'notifications' in event && event.notifications !== undefined
      ? [{ ...event.notifications, event: event.event_id }]
      : [],
  );
  if (onRequest === undefined || onResult === undefined) throw new Error('there are two carriers');
  const messages = (request: number) =>
    (JSON.parse(server?.requests[request]?.body ?? '') as { messages: unknown[] }).messages;
  return { server, log, words, onRequest, onResult, messages };
}

/** Checks that apply to every format. */
function expectSound({ server: asked, onRequest, onResult, log, messages }: Walk, format: string): void {
  expect([onRequest.format, onResult.format]).toEqual([format, format]);
  expect([onRequest.shown.length, onResult.shown.length, onResult.user_text.length]).toEqual([1, 1, 1]);
  expect([onRequest.user, onResult.user]).toEqual([[], [facts.user]]);
  expect(onResult.text).not.toContain(facts.user);
  expect(onRequest.text).toContain(log.state.turn.key);
  // The bytes sent are those on disk, and each occurs once.
  const bytes = (text: string) => JSON.stringify(text).slice(1, -1);
  expect(asked.requests[0]?.body.split(bytes(onRequest.text))).toHaveLength(2);
  expect(asked.requests[1]?.body.split(bytes(onRequest.text))).toHaveLength(2);
  expect(asked.requests[1]?.body.split(bytes(onResult.text))).toHaveLength(2);
  // Sent messages never change, because endpoints cache them.
  expect(messages(1).slice(0, messages(0).length)).toEqual(messages(0));
  expect(messages(2).slice(0, messages(1).length)).toEqual(messages(1));
}

const queued = { role: 'user', content: facts.user };

const assistant = (call: string, output: string, content: '' | null = '') => ({
  role: 'assistant',
  content,
  tool_calls: [
    {
      id: call,
      type: 'function',
      function: { name: 'run_command', arguments: JSON.stringify({ command: `echo ${output}` }) },
    },
  ],
});

test('xml puts the block before the user’s message and after the tool’s result', async () => {
  const walked = await walk('xml');
  const { words, onRequest, onResult, messages } = walked;
  expectSound(walked, 'xml');
  expect(onRequest.text).toContain(`<![CDATA[${facts.first.replace(']]>', ']]]]><![CDATA[>')}]]></notification>`);
  expect(messages(1).slice(1)).toEqual([
    { role: 'user', content: `${onRequest.text}\n\n${words.request}` },
    assistant(words.call, words.output),
    { role: 'tool', tool_call_id: words.call, content: `${words.output}\n(exit code 0)\n\n${onResult.text}` },
    queued,
  ]);
});

test.each([
  ['https://api.openai.com/v1', 'gpt-5.5', 'developer', null],
  ['https://api.moonshot.ai/v1', 'kimi-k2.6', 'system', ''],
  ['https://api.deepseek.com/v1', 'deepseek-v4-pro', 'system', ''],
] as const)(
  'auto puts the block into a separate message for a verified model: %s, %s',
  async (baseUrl, model, role, content) => {
    const walked = await walk('auto', { baseUrl, model });
    const { words, onRequest, onResult, messages } = walked;
    expectSound(walked, 'developer');
    const [, ...sent] = messages(1);
    expect(sent).toMatchObject([
      { role, content: onRequest.text },
      { role: 'user', content: words.request },
      assistant(words.call, words.output, content),
      { role: 'tool', tool_call_id: words.call, content: `${words.output}\n(exit code 0)` },
      { role, content: onResult.text },
      queued,
    ]);
  },
);

test.each(['developer', 'auto'] as const)(
  'a model that is not verified gets no late system message with the format %s',
  async (format) => {
    const walked = await walk(format);
    const { words, onRequest, onResult, messages } = walked;
    expectSound(walked, format === 'auto' ? 'xml' : 'developer');
    expect(messages(1).slice(1)).toEqual([
      { role: 'user', content: `${onRequest.text}\n\n${words.request}` },
      assistant(words.call, words.output),
      { role: 'tool', tool_call_id: words.call, content: `${words.output}\n(exit code 0)\n\n${onResult.text}` },
      queued,
    ]);
  },
);

test('xml keeps the block in the result for a verified model, too', async () => {
  const walked = await walk('xml', { baseUrl: 'https://api.deepseek.com/v1', model: 'deepseek-v4-pro' });
  const { words, onResult, messages } = walked;
  expectSound(walked, 'xml');
  expect(messages(1).slice(-2)).toEqual([
    { role: 'tool', tool_call_id: words.call, content: `${words.output}\n(exit code 0)\n\n${onResult.text}` },
    queued,
  ]);
});

test('markdown puts the block before the user’s message and before the result', async () => {
  const walked = await walk('markdown');
  const { words, onRequest, onResult, messages } = walked;
  expectSound(walked, 'markdown');
  expect(onRequest.text).toMatch(
    /^---\n\*\*Earshot notifications\*\* \(key .+\): automated, unrelated to what follows/,
  );
  expect(messages(1).slice(1)).toEqual([
    { role: 'user', content: `${onRequest.text}\n\n${words.request}` },
    assistant(words.call, words.output),
    { role: 'tool', tool_call_id: words.call, content: `${onResult.text}\n\n${words.output}\n(exit code 0)` },
    queued,
  ]);
});

test('synthetic-tool makes a call and a result with matching ids derived from the carrier’s id', async () => {
  const walked = await walk('synthetic-tool');
  const { words, onRequest, onResult, messages, server: asked } = walked;
  expectSound(walked, 'synthetic-tool');
  const pair = (carrier: { event: string; text: string }) => [
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        {
          id: `notification_${carrier.event}`,
          type: 'function',
          function: { name: '_system_notification', arguments: '{}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: `notification_${carrier.event}`, content: carrier.text },
  ];
  expect(messages(1).slice(1)).toEqual([
    ...pair(onRequest),
    { role: 'user', content: words.request },
    assistant(words.call, words.output),
    { role: 'tool', tool_call_id: words.call, content: `${words.output}\n(exit code 0)` },
    ...pair(onResult),
    queued,
  ]);
  const { tools } = JSON.parse(asked.requests[0]?.body ?? '') as { tools: { function: { name: string } }[] };
  expect(tools.map((tool) => tool.function.name)).not.toContain('_system_notification');
});
