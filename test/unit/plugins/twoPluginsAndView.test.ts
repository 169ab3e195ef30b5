// Two plugins and the view on one conversation: answers in turn, late, refused and timed out, and a plugin that dies.
import { expect, test } from 'vitest';
import { ChatFrontend } from '../../../src/core/frontend/chatFrontend.ts';
import { emptyChatHead } from '../../../src/core/frontend/chatHead.ts';
import { realClock } from '../../../src/node/realClock.ts';
import { answerApprovals } from '../../support/answerApprovals.ts';
import { atTestEnd } from '../../support/endings.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { createPluginWorld, type PluginWorldOptions } from '../../support/plugins/pluginWorld.ts';
import { type RawPlugin } from '../../support/plugins/rawPlugin.ts';

const call = (id: string) => ({ calls: [{ id, name: 'run_command', arguments: { command: `echo ${id}` } }] });
const head = emptyChatHead({ version: '1', hostVersion: '2' }, { label: 'm', detail: 'd' });

async function begin(options: PluginWorldOptions = {}) {
  const world = await createPluginWorld(options);
  const chat = new ChatFrontend(realClock, head, world.frontends.requests);
  atTestEnd(async () => chat.dispose());
  world.add(chat);
  const listening = world.earshot.onDidChange(({ conversation, folded }) => {
    if (folded !== undefined) chat.appended(conversation, folded);
  });
  atTestEnd(async () => listening.dispose());
  const id = await world.conversation();
  chat.show(id, []);
  const plugins: RawPlugin[] = [];
  for (const name of ['one', 'two']) {
    const plugin = await world.attach(name, { approve: true });
    await plugin.ask({ type: 'subscribe', sub_id: name, conversation: id });
    plugins.push(plugin);
  }
  const [one, two] = plugins as [RawPlugin, RawPlugin];
  /** Resolves once both plugins and the view have the approval. */
  const asked = async (callId: string) => {
    for (const plugin of plugins)
      await plugin.event((event) => event.respond !== undefined && event.data['id'] === callId);
    await expect.poll(() => world.frontends.requests.all.length, { interval: 2 }).toBe(1);
  };
  const respond = (sub: string, callId: string, action = 'approve') => ({
    type: 'respond',
    sub_id: sub,
    respond: 'tool_approval',
    tool_call_id: callId,
    action,
  });
  const approvals = async () =>
    (await world.headless.events(id))
      .split('\n')
      .filter((line) => line.includes('"type":"approval"'))
      .map((line) => (JSON.parse(line) as { by: string }).by);
  /** Answers in the view; returns whether the answer was accepted. */
  const answer = (callId: string, action: 'approve' | 'reject' = 'approve') =>
    world.frontends.requests.answer({ type: 'approval', conversation: id, id: callId, answer: { action, by: 'user' } })
      .ok;
  return { world, answer, id, one, two, asked, respond, approvals };
}

const resolvedBy = (plugin: RawPlugin, callId: string) =>
  plugin
    .event((event) => event.data.type === 'resolved' && event.data['tool_call_id'] === callId)
    .then(({ data }) => data['by']);

test('each of them answers an approval in turn, and the others are notified who answered', async () => {
  const { world, answer, id, one, two, asked, respond, approvals } = await begin({
    answers: [call('a'), call('b'), call('c'), { text: ['Done.'] }],
  });
  const turn = world.turn(id);
  await asked('a');
  expect(await one.ask(respond('one', 'a'))).toMatchObject({ type: 'done' });
  expect(await resolvedBy(two, 'a')).toBe('plugin:one');
  await asked('b');
  expect(answer('a', 'reject')).toBe(false);
  expect(await two.ask(respond('two', 'b'))).toMatchObject({ type: 'done' });
  expect(await resolvedBy(one, 'b')).toBe('plugin:two');
  await asked('c');
  expect(answer('c')).toBe(true);
  expect(await Promise.all([resolvedBy(one, 'c'), resolvedBy(two, 'c')])).toEqual(['user', 'user']);
  await turn;
  expect(await approvals()).toEqual(['plugin:one', 'plugin:two', 'user']);
  // A late answer is an error.
  expect(await one.ask(respond('one', 'c'))).toMatchObject({
    type: 'error',
    message: 'It was already answered by user.',
  });
  expect(world.errors).toEqual([]);
});

test('of two answers at once the first wins and the other is an error', async () => {
  const { world, id, one, two, asked, respond, approvals } = await begin({ answers: [call('a'), { text: ['Done.'] }] });
  const turn = world.turn(id);
  await asked('a');
  const replies = await Promise.all([one.ask(respond('one', 'a')), two.ask(respond('two', 'a', 'reject'))]);
  expect(replies.map(({ type }) => type).sort()).toEqual(['done', 'error']);
  await turn;
  expect(await approvals()).toEqual([replies[0].type === 'done' ? 'plugin:one' : 'plugin:two']);
});

test('a plugin that is killed leaves the approval to the other', async () => {
  const { world, id, one, two, asked, respond, approvals } = await begin({ answers: [call('a'), { text: ['Done.'] }] });
  const turn = world.turn(id);
  await asked('a');
  one.destroy();
  await one.closed;
  expect(await two.ask(respond('two', 'a'))).toMatchObject({ type: 'done' });
  await turn;
  expect(await approvals()).toEqual(['plugin:two']);
});

test('removing the right to answer in the settings applies at once', async () => {
  const { world, id, one, two, asked, respond } = await begin({ answers: [call('a'), { text: ['Done.'] }] });
  const turn = world.turn(id);
  await asked('a');
  world.programs.delete('one');
  expect(await one.ask(respond('one', 'a'))).toMatchObject({
    type: 'error',
    message: expect.stringContaining('may not answer') as string,
  });
  await two.ask(respond('two', 'a'));
  await turn;
});

test.each([
  ['reject', /rejected automatically: Nobody answered within 300 s\./],
  ['approve', /^a/],
] as const)('with no view open and nobody answering, %s is the answer after the time-out', async (fallback, result) => {
  const clock = createManualClock();
  const { world, id, one, asked } = await begin({
    answers: [call('a'), { text: ['Done.'] }],
    settings: { 'plugins.respondFallback': fallback },
    clock,
    isShown: () => false,
  });
  const turn = world.turn(id);
  await asked('a');
  // The checks are asynchronous, so the clock advances repeatedly.
  const passing = setInterval(() => clock.advance(5000), 1);
  atTestEnd(async () => clearInterval(passing));
  expect(await resolvedBy(one, 'a')).toBe('timeout');
  clearInterval(passing);
  const response = await one.event((event) => event.data.type === 'tool_call_response');
  expect(response.data['content']).toMatch(result);
  await turn;
});

test('with a view open there is no time limit; it starts when the view is closed', async () => {
  const clock = createManualClock();
  let isShown = true;
  let checks = 0;
  const { world, id, one, asked } = await begin({
    answers: [call('a'), { text: ['Done.'] }],
    clock,
    isShown: () => {
      checks += 1;
      return isShown;
    },
  });
  const turn = world.turn(id);
  await asked('a');
  const passing = setInterval(() => clock.advance(5000), 1);
  atTestEnd(async () => clearInterval(passing));
  await expect.poll(() => checks, { interval: 1 }).toBeGreaterThan(100);
  expect(one.received.filter((message) => message.type === 'event' && message.data.type === 'resolved')).toEqual([]);
  isShown = false;
  expect(await resolvedBy(one, 'a')).toBe('timeout');
  clearInterval(passing);
  await turn;
});

test('a question that nobody answers in time has a result that says so', async () => {
  const clock = createManualClock();
  const { world, id, one } = await begin({
    answers: [{ calls: [{ id: 'q', name: 'ask_user', arguments: { question: 'Which tea?' } }] }, { text: ['Done.'] }],
    clock,
    isShown: () => false,
  });
  const turn = world.turn(id);
  await one.event((event) => event.respond === 'inquiry');
  const passing = setInterval(() => clock.advance(5000), 1);
  atTestEnd(async () => clearInterval(passing));
  const { data } = await one.event((event) => event.data.type === 'tool_call_response');
  clearInterval(passing);
  expect(data['content']).toContain('gave no answer');
  await turn;
});

test('an approval that no plugin was asked for has no time limit', async () => {
  const clock = createManualClock();
  const world = await createPluginWorld({ answers: [call('a'), { text: ['Done.'] }], clock, isShown: () => false });
  const chat = new ChatFrontend(realClock, head, world.frontends.requests);
  atTestEnd(async () => chat.dispose());
  world.add(chat);
  const id = await world.conversation();
  chat.show(id, []);
  const turn = world.turn(id);
  await expect.poll(() => world.frontends.requests.all.length, { interval: 2 }).toBe(1);
  for (let passed = 0; passed < 200; passed += 1) {
    clock.advance(5000);
    await Promise.resolve();
  }
  expect(world.frontends.requests.all.length).toBe(1);
  answerApprovals(world.frontends.requests, () => 'approve');
  await turn;
});
