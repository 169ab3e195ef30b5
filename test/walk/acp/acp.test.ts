// Earshot as an ACP agent: a client drives whole turns and gets everything that the model got.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAcp, type Update } from '../../support/acp/acpClient.ts';
import { type ScriptedAnswer } from '../../support/models/scriptedServer.ts';

const end: ScriptedAnswer = { text: ['All', ' done.'] };
const call = (id: string, name: string, args: Record<string, unknown>): ScriptedAnswer => ({
  calls: [{ id, name, arguments: args }],
});
const write = (id: string, content = 'Tea.\n') => call(id, 'write_file', { path: 'menu.txt', content });
const allow = { outcome: { outcome: 'selected', optionId: 'allow-once' } };
const reject = { outcome: { outcome: 'selected', optionId: 'reject-once' } };
const ofCall = (id: string, status: string) => (update: Update) =>
  update['toolCallId'] === id && update['status'] === status;

const AT_ANY_TIME: readonly string[] = ['session_info_update', 'available_commands_update'];

test('initialize announces what works without an editor', async () => {
  const { connect } = await startAcp();
  const client = await connect();
  expect((await client.request('initialize', { protocolVersion: 7 })).result).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'earshot' },
    agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {} } },
    authMethods: [],
  });
});

test('an approved edit is made; a file changed meanwhile is reported in the content of the same call', async () => {
  const { folder, folders, connect } = await startAcp(call('r', 'read_file', { path: 'tea.txt' }), write('w'), end);
  await writeFile(join(folder, 'tea.txt'), 'green\n');
  const client = await connect();
  const session = await client.newSession(folder);
  client.answer = async () => {
    const { promise: queued, resolve } = Promise.withResolvers<void>();
    const listening = folders[0]?.earshot.onDidChange(({ folded }) => {
      if (folded?.event.type === 'notification_queued') resolve();
    });
    await writeFile(join(folder, 'tea.txt'), 'black\n');
    await queued;
    listening?.dispose();
    return allow;
  };
  expect((await client.prompt(session, 'Write the menu.')).result).toEqual({ stopReason: 'end_turn' });
  expect(await readFile(join(folder, 'menu.txt'), 'utf8')).toBe('Tea.\n');
  expect(client.asked).toMatchObject([
    {
      method: 'session/request_permission',
      params: {
        sessionId: session,
        toolCall: {
          toolCallId: 'w',
          kind: 'edit',
          title: 'write_file menu.txt',
          content: [{ type: 'diff', path: join(folder, 'menu.txt'), oldText: null, newText: 'Tea.\n' }],
        },
        options: [
          { kind: 'allow_once' },
          { kind: 'allow_always', name: 'Always allow in this session: write_file' },
          { kind: 'allow_always', name: 'Always allow in this folder: write_file' },
          { kind: 'reject_once' },
        ],
      },
    },
  ]);
  // A title update and the list of commands may arrive at any time.
  const kinds = client.updates
    .filter(({ sessionUpdate }) => !AT_ANY_TIME.includes(sessionUpdate))
    .map(({ sessionUpdate, status }) => [sessionUpdate, status].filter(Boolean).join(' '));
  expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
    'tool_call pending',
    'tool_call_update in_progress',
    'tool_call_update completed',
    'tool_call pending',
    'tool_call_update in_progress',
    'tool_call_update completed',
    'agent_message_chunk',
  ]);
  const done = await client.update(ofCall('w', 'completed'));
  expect(done['content']).toMatchObject([
    { type: 'diff', path: join(folder, 'menu.txt'), oldText: null, newText: 'Tea.\n' },
    {},
    {},
  ]);
  expect(JSON.stringify(done['content'])).toMatch(/file.changed|kind=\\"file.changed|-green/);
  expect(JSON.stringify(done['content'])).toContain('+black');
  const texts = client.updates.flatMap(({ sessionUpdate, content }) =>
    sessionUpdate === 'agent_message_chunk' ? [(content as { text: string }).text] : [],
  );
  expect(texts.join('')).toBe('All done.');
  expect(client.errors).toEqual([]);
});

test('a rejected call is not run, and the model continues', async () => {
  const { folder, connect } = await startAcp(write('w'), end);
  const client = await connect();
  const session = await client.newSession(folder);
  client.answer = () => reject;
  expect((await client.prompt(session, 'Write.')).result).toEqual({ stopReason: 'end_turn' });
  expect(existsSync(join(folder, 'menu.txt'))).toBe(false);
  expect(JSON.stringify(await client.update(ofCall('w', 'failed')))).toContain('rejected');
});

test('an invalid answer to a permission request approves nothing', async () => {
  const { folder, connect } = await startAcp(write('w'), end);
  const client = await connect();
  const session = await client.newSession(folder);
  client.answer = () => ({ outcome: { outcome: 'selected', optionId: 'yes-to-all' } });
  await client.prompt(session, 'Write.');
  expect(existsSync(join(folder, 'menu.txt'))).toBe(false);
});

test('cancel ends a streaming answer, and an open permission request', async () => {
  const { folder, connect } = await startAcp({ text: ['I am', ' thinking'], hang: true }, write('w'));
  const client = await connect();
  const session = await client.newSession(folder);
  const first = client.prompt(session, 'Think.');
  await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  client.notify('session/cancel', { sessionId: session });
  expect((await first).result).toEqual({ stopReason: 'cancelled' });
  const never = new Promise(() => undefined);
  const asked = new Promise<void>((resolve) => {
    client.answer = () => {
      resolve();
      return never;
    };
  });
  const second = client.prompt(session, 'Write.');
  await asked;
  client.notify('session/cancel', { sessionId: session });
  expect((await second).result).toEqual({ stopReason: 'cancelled' });
  expect(existsSync(join(folder, 'menu.txt'))).toBe(false);
});

test('two sessions are separate; a new process lists them, loads one with its history, and resumes the other', async () => {
  const { folder, server, connect } = await startAcp(end, end, write('w'), end, end);
  const client = await connect({ 'approvals.mode': 'edits' });
  const [one, two] = [await client.newSession(folder), await client.newSession(folder)];
  await client.prompt(one, 'First.');
  await client.prompt(two, 'Second.');
  await client.prompt(one, 'Write.');
  expect(JSON.stringify(client.updates.filter(({ session }) => session === two))).not.toContain('write_file');
  await client.agent.close();

  const next = await connect();
  const { sessions } = (await next.request('session/list', { cwd: folder })).result as {
    sessions: { sessionId: string }[];
  };
  expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual([one, two].sort());
  const loaded = await next.request('session/load', { cwd: folder, sessionId: one, mcpServers: [] });
  expect(loaded.result).toMatchObject({ modes: { currentModeId: 'agent' } });
  expect(next.updates.map(({ sessionUpdate }) => sessionUpdate).filter((kind) => !AT_ANY_TIME.includes(kind))).toEqual([
    'user_message_chunk',
    'agent_message_chunk',
    'user_message_chunk',
    'tool_call',
    'tool_call_update',
    'agent_message_chunk',
  ]);
  const timely = () => next.updates.filter(({ sessionUpdate }) => !AT_ANY_TIME.includes(sessionUpdate));
  const before = timely().length;
  await next.request('session/resume', { cwd: folder, sessionId: two });
  expect(timely()).toHaveLength(before);
  expect((await next.prompt(two, 'Go on.')).result).toEqual({ stopReason: 'end_turn' });
  const last = JSON.parse(server.requests.at(-1)?.body ?? '{}') as { messages: { content: string }[] };
  expect(JSON.stringify(last.messages)).toContain('Second.');
  expect(JSON.stringify(last.messages)).not.toContain('First.');
});

test('modes and options hold for the next request; a plan is the to-do list; a client can notify the model', async () => {
  const todo = call('t', 'todo', { items: [{ text: 'Boil', state: 'doing' }] });
  const { folder, server, connect } = await startAcp(todo, end, write('w'), end);
  const client = await connect();
  const session = await client.newSession(folder);
  expect(
    (await client.request('_earshot/notify', { sessionId: session, name: 'build', message: 'The build broke.' })).error,
  ).toBeUndefined();
  await client.prompt(session, 'Plan.');
  expect(JSON.stringify(JSON.parse(server.requests[0]?.body ?? ''))).toContain('The build broke.');
  expect(await client.update(({ sessionUpdate }) => sessionUpdate === 'plan')).toMatchObject({
    entries: [{ content: 'Boil', status: 'in_progress', priority: 'medium' }],
  });
  const set = await client.request('session/set_config_option', {
    sessionId: session,
    configId: 'approvals',
    value: 'edits',
  });
  expect(set.result).toMatchObject({ configOptions: [{ id: 'approvals', currentValue: 'edits' }] });
  expect(client.updates.some(({ sessionUpdate }) => sessionUpdate === 'config_option_update')).toBe(true);
  await client.request('session/set_mode', { sessionId: session, modeId: 'plan' });
  await client.prompt(session, 'Write.');
  expect(client.asked).toEqual([]);
  expect(existsSync(join(folder, 'menu.txt'))).toBe(false);
  expect(JSON.stringify(client.updates)).toContain('current_mode_update');
});

test('a client can choose a configured model, and gets skills and prompt files as commands', async () => {
  const { folder, connect } = await startAcp(end);
  await mkdir(join(folder, '.github/prompts'), { recursive: true });
  await mkdir(join(folder, '.claude/skills/brew'), { recursive: true });
  await writeFile(join(folder, '.github/prompts/plan.prompt.md'), '---\ndescription: Plans.\n---\nPlan it.');
  await writeFile(join(folder, '.claude/skills/brew/SKILL.md'), '---\nname: brew\ndescription: Brews.\n---\nBoil.');
  const client = await connect({ model: 'small', baseUrl: 'http://127.0.0.1:9/v1', models: { large: {} } });
  const session = await client.newSession(folder);
  const set = (value: string) =>
    client.request('session/set_config_option', { sessionId: session, configId: 'model', value });
  expect((await set('large')).result).toMatchObject({
    configOptions: [{ id: 'approvals' }, { id: 'model', category: 'model', currentValue: 'large' }],
  });
  expect((await set('huge')).error?.message).toContain('value: must be one of small, large');
  const update = await client.update(({ sessionUpdate }) => sessionUpdate === 'available_commands_update');
  const names = (update['availableCommands'] as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['plan', 'brew', 'compact', 'init', 'review']));
});

test('/compact with a focus makes a summary and ends its turn', async () => {
  const { folder, server, connect } = await startAcp(end, { text: ['Goal: tea.'] }, end);
  const client = await connect();
  const session = await client.newSession(folder);
  await client.prompt(session, 'First.');
  expect((await client.prompt(session, '/compact the teas')).result).toEqual({ stopReason: 'end_turn' });
  expect(server.requests[1]?.body).toContain('keep above all: the teas');
  await client.prompt(session, 'Next.');
  expect(server.requests[2]?.body).toContain('Goal: tea.');
  expect(server.requests[2]?.body).not.toContain('First.');
});

test('questions are asked only of clients that can answer them', async () => {
  const ask = call('q', 'ask_user', { question: 'Milk?', options: ['Yes', 'No'] });
  const { folder, server, connect } = await startAcp(ask, end, end);
  const client = await connect({}, { elicitation: { form: {} } });
  client.answer = () => ({ action: 'accept', content: { answer: 'Yes' } });
  await client.prompt(await client.newSession(folder), 'Ask.');
  expect(client.asked).toMatchObject([{ method: 'elicitation/create', params: { mode: 'form', message: 'Milk?' } }]);
  expect(server.requests[1]?.body).toContain('Yes');
  const plain = await connect();
  await plain.prompt(await plain.newSession(folder), 'Hello.');
  expect(server.requests[2]?.body).not.toContain('ask_user');
});

test.each([
  ['session/new', { cwd: 'relative', mcpServers: [] }, 'is not an absolute path'],
  ['session/new', { cwd: '/no/such/folder', mcpServers: [] }, 'is not a folder'],
  ['session/new', {}, 'cwd'],
  ['session/prompt', { sessionId: 'unknown', prompt: [] }, 'There is no open session unknown'],
  ['session/load', { sessionId: '../../etc', cwd: '/tmp', mcpServers: [] }, 'There is no session'],
  ['session/fly', {}, 'unknown method session/fly'],
])('%s with %j is refused', async (method, params, message) => {
  const { connect } = await startAcp();
  const client = await connect();
  client.sendsValidLines = false;
  expect((await client.request(method, params)).error?.message).toContain(message);
});
