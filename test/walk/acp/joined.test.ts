// The agent joined to a window of VS Code: its conversations are the sessions, and either front end may answer.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { joinWindow } from '../../../src/bin/acp/joinWindow.ts';
import { AcpClient, type Update } from '../../support/acp/acpClient.ts';
import { atTestEnd } from '../../support/endings.ts';
import { answerApprovals } from '../../support/answerApprovals.ts';
import { createPluginWorld, type PluginWorld, type PluginWorldOptions } from '../../support/plugins/pluginWorld.ts';
import { oneTaskTool } from '../../support/tools/oneTask.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';

const call = (id: string, name: string, args: Record<string, unknown>) => ({ calls: [{ id, name, arguments: args }] });
const write = call('w', 'write_file', { path: 'menu.txt', content: 'Tea.\n' });
const end = { text: ['All', ' done.'] };
const allow = { outcome: { outcome: 'selected', optionId: 'allow-once' } };
const refuse = { outcome: { outcome: 'selected', optionId: 'reject-once' } };
const never = new Promise(() => undefined);
const ofCall = (id: string, status: string) => (update: Update) =>
  update['toolCallId'] === id && update['status'] === status;

async function start(options: PluginWorldOptions = {}) {
  const world = await createPluginWorld({ programs: { acp: { approve: true } }, ...options });
  const { folder } = world.headless;
  return { world, folder, client: await connect(world) };
}

async function connect(world: PluginWorld, clientCapabilities: object = { elicitation: { form: {} } }) {
  const { path, token } = world.listener;
  const errors: string[] = [];
  const deps = { logger: recordingLogger(errors), version: '1' };
  const window = { path, ...(token !== undefined && { token }) };
  const client = new AcpClient((cwd) => joinWindow(deps, window, cwd), errors);
  await client.request('initialize', { protocolVersion: 1, clientCapabilities });
  return client;
}

const textOf = (client: AcpClient) =>
  client.updates
    .flatMap(({ sessionUpdate, content }) =>
      sessionUpdate === 'agent_message_chunk' ? [(content as { text: string }).text] : [],
    )
    .join('');

test('the client drives a conversation of the window: the user is asked once for the name, the client approves the change', async () => {
  const { world, folder, client } = await start({ answers: [write, end] });
  client.answer = () => allow;
  const session = await client.newSession(folder);
  expect(world.consents).toHaveLength(1);
  expect(world.earshot.get(session)).toBeDefined();
  expect((await client.prompt(session, 'Write the menu.')).result).toEqual({ stopReason: 'end_turn' });
  expect(await readFile(join(folder, 'menu.txt'), 'utf8')).toBe('Tea.\n');
  expect(client.asked).toMatchObject([
    {
      params: {
        toolCall: { toolCallId: 'w', kind: 'edit' },
        options: [
          { kind: 'allow_once' },
          { kind: 'allow_always', name: 'Always allow in this session: write_file' },
          { kind: 'allow_always', name: 'Always allow in this folder: write_file' },
          { kind: 'reject_once' },
        ],
      },
    },
  ]);
  expect((await client.update(ofCall('w', 'completed')))['content']).toMatchObject([
    { type: 'diff', path: join(folder, 'menu.txt'), oldText: null, newText: 'Tea.\n' },
    { type: 'content' },
  ]);
  expect(client.updates.some(ofCall('w', 'in_progress'))).toBe(true);
  expect(textOf(client)).toBe('All done.');
  const again = await connect(world);
  await again.newSession(folder);
  expect(world.consents).toHaveLength(1);
  expect(client.errors).toEqual([]);
});

test('the content of a call has the notification that it delivered, as the model got it but without the key', async () => {
  const { world, folder, client } = await start({ answers: [write, end] });
  const session = await client.newSession(folder);
  client.answer = async () => {
    const params = { sessionId: session, name: 'build', level: 'warning', message: 'The build broke.' };
    expect((await client.request('_earshot/notify', params)).error).toBeUndefined();
    return allow;
  };
  await client.prompt(session, 'Write.');
  const { content } = await client.update(ofCall('w', 'completed'));
  const shown = (content as { content?: { text: string } }[]).at(-1)?.content?.text ?? '';
  expect(shown).toContain('The build broke.');
  const key = world.earshot.get(session)?.log.state.turn.key ?? '';
  expect(JSON.stringify(world.model.requests.at(-1))).toContain(JSON.stringify(shown.replace('•••', key)).slice(1, -1));
  expect(client.lines.some(({ line }) => line.includes(key))).toBe(false);
});

test('before a deletion the client is shown the content, and before a patch the lines around the change', async () => {
  const path = 'prices.txt';
  const lines = ['*** Begin Patch', `*** Update File: ${path}`, '@@', ' Assam 3', '-Oolong 4', '+Oolong 5', ' Mate 2'];
  const { folder, client } = await start({
    answers: [
      call('r', 'read_file', { path }),
      call('d', 'delete_file', { path }),
      call('p', 'apply_patch', { input: [...lines, '*** End Patch'].join('\n') }),
      end,
    ],
  });
  const before = 'Assam 3\nOolong 4\nMate 2\n';
  await writeFile(join(folder, path), before);
  const shown: unknown[] = [];
  client.answer = (_method, params) => {
    shown.push((params as { toolCall: { content?: unknown } }).toolCall.content);
    return refuse;
  };
  await client.prompt(await client.newSession(folder), 'Delete it, or patch it.');
  const diff = { type: 'diff', path: join(folder, path), oldText: before };
  expect(shown).toEqual([[{ ...diff, newText: '' }], [{ ...diff, newText: before.replace('Oolong 4', 'Oolong 5') }]]);
  expect(await readFile(join(folder, path), 'utf8')).toBe(before);
});

test('the client is shown why it is asked and what a call changes, and is asked again when that changes', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'earshot-outside-'));
  atTestEnd(() => rm(outside, { recursive: true, force: true }));
  await writeFile(join(outside, 'id_rsa'), 'the key');
  const read = (id: string, path: string) => call(id, 'read_file', { path });
  const overwrite = call('w', 'write_file', { path: 'menu.txt', content: 'Coffee.\n' });
  const { world, folder, client } = await start({
    answers: [read('k', 'notes.txt'), read('m', 'menu.txt'), overwrite, end],
  });
  await symlink(join(outside, 'id_rsa'), join(folder, 'notes.txt'));
  await writeFile(join(folder, 'menu.txt'), 'Tea.\n');
  const shown: Record<string, unknown>[] = [];
  client.answer = (_method, params) => {
    shown.push((params as { toolCall: Record<string, unknown> }).toolCall);
    const [open] = world.frontends.requests.all;
    if (shown.length !== 2 || open?.type !== 'approval') return allow;
    // Somebody changes the file while the client is asked.
    world.frontends.requests.approvalChanged({ ...open.request, reason: 'it was changed' });
    return never;
  };
  await client.prompt(await client.newSession(folder), 'Read, then write.');
  expect(shown).toHaveLength(3);
  expect(JSON.stringify(shown[0]?.['content'])).toContain('outside the workspace');
  const diff = { type: 'diff', path: join(folder, 'menu.txt'), oldText: 'Tea.\n', newText: 'Coffee.\n' };
  expect(shown[1]?.['content']).toEqual([diff]);
  expect(shown[2]?.['content']).toEqual([diff, { type: 'content', content: { type: 'text', text: 'it was changed' } }]);
  expect(client.lines.filter(({ line }) => line.includes('$/cancel_request'))).toHaveLength(1);
  expect(await readFile(join(folder, 'menu.txt'), 'utf8')).toBe('Coffee.\n');
});

test('the client is shown what a task of the window would run', async () => {
  const answers = [call('t', 'run_task', { name: 'check' }), end];
  const { folder, client } = await start({ answers, tools: [oneTaskTool()] });
  let shown: unknown;
  client.answer = (_method, params) => {
    shown = (params as { toolCall: { content?: unknown } }).toolCall.content;
    return allow;
  };
  await client.prompt(await client.newSession(folder), 'Check it.');
  const text = [
    'fetch: curl example.com | sh',
    'all: runs only other tasks',
    'other: the command is not known\nfolder: kitchen',
    'check: make check\nenvironment: BASH_ENV=./setup',
  ].join('\n\n');
  expect(shown).toEqual([{ type: 'content', content: { type: 'text', text } }]);
});

test('if the window answers first, the client’s request is cancelled and the turn continues', async () => {
  const { world, folder, client } = await start({ answers: [write, end] });
  const asked = Promise.withResolvers<void>();
  client.answer = () => {
    asked.resolve();
    return never;
  };
  const session = await client.newSession(folder);
  const prompted = client.prompt(session, 'Write.');
  await asked.promise;
  answerApprovals(world.frontends.requests, () => 'approve');
  expect((await prompted).result).toEqual({ stopReason: 'end_turn' });
  expect(existsSync(join(folder, 'menu.txt'))).toBe(true);
  const cancelled = client.lines.map(({ line }) => line).filter((line) => line.includes('$/cancel_request'));
  expect(cancelled).toHaveLength(1);
});

test('without "approve" the client is not asked, and the window decides', async () => {
  const { world, folder, client } = await start({ answers: [write, end], programs: {} });
  const session = await client.newSession(folder);
  answerApprovals(world.frontends.requests, () => 'reject');
  await client.prompt(session, 'Write.');
  expect(client.asked).toEqual([]);
  expect(existsSync(join(folder, 'menu.txt'))).toBe(false);
});

test('a question of the model is answered by the client', async () => {
  const ask = call('q', 'ask_user', { question: 'Milk?', options: ['Yes', 'No'] });
  const { world, folder, client } = await start({ answers: [ask, end] });
  client.answer = () => ({ action: 'accept', content: { answer: 'Yes' } });
  await client.prompt(await client.newSession(folder), 'Ask.');
  expect(client.asked).toMatchObject([{ method: 'elicitation/create', params: { message: 'Milk?' } }]);
  expect(JSON.stringify(world.model.requests.at(-1))).toContain('Yes');
});

test('conversations of the window are listed, loaded with their history, resumed, and followed', async () => {
  const { world, folder, client } = await start({
    answers: [end, write, end, end],
    settings: { 'approvals.mode': 'all' },
  });
  const id = await world.conversation();
  await world.turn(id, 'First.');
  await world.turn(id, 'Write.');
  const { result } = await client.request('session/list', { cwd: folder });
  expect(result).toMatchObject({ sessions: [{ sessionId: id, cwd: folder }] });
  expect((await client.request('session/load', { cwd: folder, sessionId: id, mcpServers: [] })).result).toMatchObject({
    modes: { currentModeId: 'agent' },
  });
  const kinds = () =>
    client.updates
      .map(({ sessionUpdate }) => sessionUpdate)
      .filter((kind) => kind !== 'session_info_update' && kind !== 'available_commands_update');
  expect(kinds()).toEqual([
    'user_message_chunk',
    'agent_message_chunk',
    'user_message_chunk',
    'tool_call',
    'tool_call_update',
    'agent_message_chunk',
  ]);
  await world.turn(id, 'Third, in the window.');
  await expect.poll(() => textOf(client)).toBe('All done.All done.All done.');
  const other = await connect(world);
  await other.request('session/resume', { cwd: folder, sessionId: id, mcpServers: [] });
  await other.update(({ sessionUpdate }) => sessionUpdate === 'available_commands_update');
  expect(other.updates).toMatchObject([{ availableCommands: [{ name: 'review', description: 'A prompt' }] }]);
  expect(
    (await other.request('session/load', { cwd: folder, sessionId: 'absent', mcpServers: [] })).error,
  ).toMatchObject({
    code: -32002,
  });
});

test('cancel stops the turn in the window; mode and approvals are changed only there', async () => {
  const { world, folder, client } = await start({ answers: [{ text: ['I am', ' thinking'], hang: true }] });
  const session = await client.newSession(folder);
  const prompted = client.prompt(session, 'Think.');
  await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  expect((await client.prompt(session, 'And now?')).error?.message).toContain('A turn is running');
  client.notify('session/cancel', { sessionId: session });
  expect((await prompted).result).toEqual({ stopReason: 'cancelled' });
  const set = (modeId: string) => client.request('session/set_mode', { sessionId: session, modeId });
  expect((await set('agent')).result).toEqual({});
  expect((await set('plan')).error?.message).toContain('Change it in that window.');
  const option = { sessionId: session, configId: 'approvals', value: 'all' };
  expect((await client.request('session/set_config_option', option)).error?.message).toContain('window');
  expect(world.errors).toEqual([]);
});

test('a name that the user does not allow is refused with the reason', async () => {
  const { world, folder, client } = await start();
  world.user.approves = false;
  const { error } = await client.request('session/new', { cwd: folder, mcpServers: [] });
  expect(error?.message).toContain('--headless');
});

test('if the window closes in the middle of a turn, the prompt and later prompts of the session fail with the reason', async () => {
  const { world, folder, client } = await start({ answers: [{ text: ['I am'], hang: true }] });
  const session = await client.newSession(folder);
  const prompted = client.prompt(session, 'Think.');
  await client.update(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk');
  world.attached.dispose();
  expect((await prompted).error?.message).toContain('The window of VS Code was closed.');
  expect((await client.prompt(session, 'And now?')).error?.message).toContain('The window of VS Code was closed.');
  // Resuming opens the folder again; in this test the window is available again.
  expect((await client.request('session/resume', { cwd: folder, sessionId: session })).error).toBeUndefined();
  // In the window the turn was still running.
  await world.earshot.stop(session);
});

test('an image and a linked file are attached by the window; a prompt that is too long for a line is refused', async () => {
  const { world, folder, client } = await start({ answers: [end, end] });
  await writeFile(join(folder, 'tea.txt'), 'green');
  const session = await client.newSession(folder);
  const prompt = (part: object) => client.request('session/prompt', { sessionId: session, prompt: [part] });
  expect((await prompt({ type: 'image', data: 'AAAA', mimeType: 'image/png' })).result).toEqual({
    stopReason: 'end_turn',
  });
  expect(await world.headless.events(session)).toContain('"media_type":"image/png"');
  expect((await prompt({ type: 'image', data: 'AAAA', mimeType: 'text/html' })).error?.message).toContain('PNG');
  expect((await prompt({ type: 'text', text: 'x'.repeat(9_000_000) })).error?.message).toContain('too long');
  const link = { type: 'resource_link', uri: `file://${join(folder, 'tea.txt')}`, name: 'tea' };
  expect((await prompt(link)).result).toEqual({ stopReason: 'end_turn' });
  expect(JSON.stringify(world.model.requests)).toContain('green');
});
