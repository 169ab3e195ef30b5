// Choices of a conversation: model, effort, mode and approvals, side by side, across restarts, forks and subagents.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Library } from '../../../src/core/library.ts';
import { createConfiguredModels } from '../../../src/models/configuredModels.ts';
import { KnownModels } from '../../../src/models/facts/modelFacts.ts';
import { type ConversationChoice } from '../../../src/protocol/page/controlsView.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { atTestEnd } from '../../support/endings.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { startHeadless } from '../../support/walk/headless.ts';
import { beginFamily, call, done, start } from '../../support/walk/subagentWalks.ts';

const write = (path: string): ScriptedAnswer => ({ calls: [call('write_file', { path, content: 'tea' })] });

/** A window with two providers, `one` and `two`, each with a scripted endpoint. `limits` may change later. */
async function beginTwo(first: readonly ScriptedAnswer[], second: readonly ScriptedAnswer[]) {
  const servers: ScriptedServer[] = [];
  for (const script of [first, second]) servers.push(await startScriptedServer(...script));
  atTestEnd(() => Promise.all(servers.map((server) => server.stop())).then(() => undefined));
  const [one, two] = servers as [ScriptedServer, ScriptedServer];
  const providers = { one: { baseUrl: one.baseUrl }, two: { baseUrl: two.baseUrl } };
  const values: Record<string, unknown> = { model: 'one/a', providers, 'approvals.mode': 'edits' };
  const state: { limits: { mode?: 'plan' }; first: ConversationChoice; providers: object } = {
    limits: {},
    first: {},
    providers,
  };
  const settings = () => readSettings((name) => (name === 'providers' ? state.providers : values[name])).settings;
  const get = createConfiguredModels({
    settings,
    known: new KnownModels({ path: '/nowhere', logger: { warn: () => undefined } }),
    key: async () => undefined,
  });
  const model = () => {
    const made = get('one/a');
    if (made === undefined) throw new Error('there is no model');
    return made;
  };
  const headless = await startHeadless({
    model: model(),
    ports: {
      settings,
      model,
      models: { names: [], get },
      limits: () => state.limits,
      firstChoice: () => state.first,
    },
  });
  atTestEnd(() => headless.end());
  const { earshot } = headless;
  const create = async () => {
    const created = await earshot.create();
    if (!created.ok) throw new Error(created.failure.message);
    return created.value.log.id;
  };
  const go = async (id: string) => {
    await earshot.send(id, 'Go.');
    await earshot.settled(id);
  };
  return { headless, earshot, one, two, state, create, go };
}

const bodies = ({ requests }: ScriptedServer) => requests.map(({ body }) => JSON.parse(body) as { model: string });

test('two conversations use models of two providers side by side', async () => {
  const { earshot, one, two, create, go } = await beginTwo([done, done], [done]);
  const [first, second] = [await create(), await create()];
  expect(await earshot.choices.choose(second, { model: 'two/b' })).toMatchObject({ ok: true });
  await Promise.all([go(first), go(second)]);
  expect(bodies(one).map(({ model }) => model)).toEqual(['a']);
  expect(bodies(two).map(({ model }) => model)).toEqual(['b']);
  await go(first);
  expect(bodies(one)).toHaveLength(2);
  expect(earshot.choices.of(second).settings.model).toBe('two/b');
  expect(earshot.choices.of(first).settings.model).toBe('one/a');
});

test('a choice survives a restart, and is listed', async () => {
  const { headless, earshot, create } = await beginTwo([done], []);
  const id = await create();
  await earshot.choices.choose(id, { model: 'two/b', effort: 'high', approvals: 'ask' });
  await earshot.choices.choose(id, { mode: 'plan' });
  await headless.earshot.send(id, 'Go.');
  await headless.earshot.settled(id);
  const next = await headless.restart();
  atTestEnd(() => next.close());
  const opened = await next.earshot.open(id);
  expect(opened.ok && opened.value.log.state.choice.current).toEqual({
    model: 'two/b',
    effort: 'high',
    approvals: 'ask',
    mode: 'plan',
  });
  const listed = await next.ports.store.list();
  expect(listed.ok && listed.value[0]?.choice).toEqual({ model: 'two/b', mode: 'plan', approvals: 'ask' });
});

test('new conversations start with the last choice, and only they', async () => {
  const { headless, create, earshot, state } = await beginTwo([], []);
  const before = await create();
  state.first = { model: 'two/b', mode: 'plan' };
  const after = await create();
  expect(earshot.choices.of(before).settings).toMatchObject({ model: 'one/a', mode: 'agent' });
  expect(earshot.choices.of(after).settings).toMatchObject({ model: 'two/b', mode: 'plan' });
  expect((await headless.events(after)).split('\n')[1]).toContain('choice_made');
});

test('the mode and the approvals of one conversation do not change those of another', async () => {
  const { headless, earshot, one, create, go } = await beginTwo([write('a.txt'), done, write('b.txt'), done], []);
  const [planning, editing] = [await create(), await create()];
  await earshot.choices.choose(planning, { mode: 'plan', approvals: 'all' });
  await go(planning);
  expect(one.requests.at(-1)?.body).toContain('Plan mode');
  await go(editing);
  expect(await headless.events(editing)).toContain('"b.txt"');
  expect(await headless.events(planning)).toContain('plan_mode');
});

test('a workspace that allows only Plan mode wins over every choice, and says so', async () => {
  const { headless, earshot, create, go, state } = await beginTwo([write('a.txt'), done], []);
  const id = await create();
  await earshot.choices.choose(id, { mode: 'agent', approvals: 'all' });
  state.limits = { mode: 'plan' };
  await go(id);
  expect(await headless.events(id)).toContain('plan_mode');
  expect(await earshot.choices.choose(id, { mode: 'agent' })).toMatchObject({
    ok: false,
    failure: { code: 'setting' },
  });
  expect(await earshot.choices.choose(id, { mode: 'plan' })).toMatchObject({ ok: true });
});

test('an approval that is open when the user chooses to allow edits is decided by the choice', async () => {
  const { headless, earshot, create } = await beginTwo([write('a.txt'), done], []);
  const id = await create();
  await earshot.choices.choose(id, { approvals: 'ask' });
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  headless.frontend.answer = (_request, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('withdrawn')));
      resolve();
    });
  await earshot.send(id, 'Go.');
  await asked;
  await earshot.choices.choose(id, { approvals: 'edits' });
  await earshot.settled(id);
  expect(await headless.events(id)).toContain('"by":"policy"');
});

test('a model whose provider was removed is named, with the next step, and another can be chosen', async () => {
  const { earshot, two, create, go, state } = await beginTwo([done], [done]);
  const id = await create();
  await earshot.choices.choose(id, { model: 'two/b' });
  const { providers } = state;
  state.providers = { one: (providers as { one: object }).one };
  await go(id);
  const { turn, transcript } = earshot.get(id)?.log.state ?? {};
  expect(turn?.outcome).toBe('error');
  expect(JSON.stringify(transcript?.items)).toContain('two/b');
  expect(JSON.stringify(transcript?.items)).toContain('Choose Model');
  expect(two.requests).toEqual([]);
  await earshot.choices.choose(id, { model: 'one/a' });
  await go(id);
  expect(earshot.get(id)?.log.state.turn.outcome).toBe('done');
});

test('a fork and a message that is sent again keep the choice, also one that was made later', async () => {
  const { headless, earshot, create, go } = await beginTwo([done], [done]);
  const id = await create();
  await go(id);
  await earshot.choices.choose(id, { model: 'two/b' });
  await go(id);
  const library = new Library(headless.ports, earshot);
  const events = await headless.ports.store.read(id);
  const request = events.ok && events.value.events.find(({ type }) => type === 'chat_request');
  if (!request) throw new Error('there is no request');
  const again = await library.forkBefore(id, request.event_id);
  const forked = await library.fork(id);
  for (const one of [again.ok && again.value.conversation, forked.ok && forked.value]) {
    const opened = await earshot.open(one || '');
    expect(opened.ok && opened.value.log.state.choice.current).toEqual({ model: 'two/b' });
  }
});

test('a subagent starts with the choice of its parent, and follows its mode', async () => {
  const family = await beginFamily([{ calls: [start('tests', { model: undefined })] }, done, done], { tests: [done] });
  const { earshot } = family.headless;
  await earshot.choices.choose(family.id, { model: 'tests', approvals: 'edits' });
  const hanging = { text: ['Working.'], hang: true };
  family.agents['tests']?.restart({ calls: [start('child', { model: undefined })] }, hanging, hanging);
  await earshot.send(family.id, 'Go.');
  await expect.poll(() => family.headless.handles.list(family.id)).toHaveLength(1);
  const child = family.child('child');
  expect(earshot.choices.of(child).settings).toMatchObject({ model: 'tests', 'approvals.mode': 'edits' });
  await earshot.choices.choose(family.id, { mode: 'plan' });
  await family.event(({ type }) => type === 'choice_made', child);
  await expect.poll(() => earshot.choices.of(child).settings.mode).toBe('plan');
  await earshot.stop(family.id);
});

test('images of files and of results reach a model that takes them, and are described to others', async () => {
  const { headless, one, create, go } = await beginTwo([{ calls: [call('read_file', { path: 'tea.png' })] }, done], []);
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  await writeFile(join(headless.folder, 'tea.png'), png);
  const id = await create();
  await go(id);
  expect(await headless.events(id)).toContain('(tea.png: PNG, 1 × 1 pixels, 70 bytes)');
  const { messages } = headless.earshot.get(id)?.log.state ?? {};
  expect(messages?.all.find(({ role }) => role === 'tool')).toMatchObject({
    resultImages: [{ mediaType: 'image/png', name: 'tea.png' }],
  });
  expect(one.requests).toHaveLength(2);
});
