// Approvals that a client of the agent is asked for, in whichever order the session is opened and the approval is asked.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { joinWindow } from '../../../src/bin/acp/joinWindow.ts';
import { AcpClient, startAcp } from '../../support/acp/acpClient.ts';
import { createPluginWorld, type PluginWorld } from '../../support/plugins/pluginWorld.ts';
import { recordingLogger } from '../../support/recordingLogger.ts';
import { afterTicks } from '../../support/ticks.ts';

const call = (id: string, name: string, args: Record<string, unknown>) => ({ calls: [{ id, name, arguments: args }] });
const write = (id: string, content: string) => call(id, 'write_file', { path: 'menu.txt', content });
const end = { text: ['Done.'] };
const select = (optionId: string) => ({ outcome: { outcome: 'selected', optionId } });

async function connect(world: PluginWorld): Promise<AcpClient> {
  const { path, token } = world.listener;
  const errors: string[] = [];
  const deps = { logger: recordingLogger(errors), version: '1' };
  const window = { path, ...(token !== undefined && { token }) };
  const client = new AcpClient((cwd) => joinWindow(deps, window, cwd), errors);
  await client.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  return client;
}

/** The calls that the client was asked for. */
const asks = (client: AcpClient) =>
  client.asked.map(({ params }) => (params as { toolCall: { toolCallId: string } }).toolCall.toolCallId);

const moments: readonly (readonly [string, (world: PluginWorld) => Promise<void>])[] = [
  ...[0, 1, 2, 3, 5, 8, 13, 21, 40].map(
    (ticks) => [`${ticks} ticks after its turn began`, () => afterTicks(ticks)] as const,
  ),
  // The window sends the request with the subscription, before the reply that opens the session.
  [
    'while the approval is open',
    async ({ frontends }) => expect.poll(() => frontends.requests.all.length, { interval: 5 }).toBe(1),
  ],
];

test.each(moments)('joined: an approval of the window is asked once if the session is loaded %s', async (_, moment) => {
  const world = await createPluginWorld({
    programs: { acp: { approve: true } },
    answers: [write('w', 'Tea.\n'), end],
  });
  const id = await world.conversation();
  const client = await connect(world);
  await client.newSession(world.headless.folder);
  client.answer = () => select('allow-once');
  const turn = world.turn(id);
  await moment(world);
  const params = { sessionId: id, cwd: world.headless.folder, mcpServers: [] };
  const loaded = await client.request('session/load', params);
  expect(loaded.error).toBeUndefined();
  await turn;
  expect(asks(client)).toEqual(['w']);
  expect(await readFile(join(world.headless.folder, 'menu.txt'), 'utf8')).toBe('Tea.\n');
  // The client is asked after the reply, and after the call is announced.
  const lines = client.lines.map(({ from, line }) => `${from} ${line}`);
  const place = (text: string) => lines.findIndex((line) => line.startsWith('agent') && line.includes(text));
  const asked = place('session/request_permission');
  expect(place(`"id":${loaded.id},"result"`)).toBeGreaterThan(-1);
  expect(asked).toBeGreaterThan(place(`"id":${loaded.id},"result"`));
  expect(asked).toBeGreaterThan(place('"toolCallId":"w"'));
  expect(client.errors).toEqual([]);
});

test('joined: *Always* in the folder is stored by the window, which then asks nobody', async () => {
  const answers = [write('one', 'Tea.\n'), write('two', 'Coffee.\n'), end];
  const world = await createPluginWorld({ programs: { acp: { approve: true } }, answers });
  const client = await connect(world);
  client.answer = () => select('allow-always-in-folder');
  await client.prompt(await client.newSession(world.headless.folder), 'Write twice.');
  expect(asks(client)).toEqual(['one']);
  const [asked] = client.asked;
  expect(asked?.params).toMatchObject({
    toolCall: { content: [{ type: 'diff', oldText: null, newText: 'Tea.\n' }] },
  });
  expect(await readFile(join(world.headless.folder, 'menu.txt'), 'utf8')).toBe('Coffee.\n');
  expect(world.headless.ports.permissions.rules).toMatchObject([{ rule: 'tool:write_file' }]);
});

test('joined: in *Ask always* no rule is offered', async () => {
  const settings = { 'approvals.mode': 'ask' };
  const world = await createPluginWorld({
    programs: { acp: { approve: true } },
    answers: [write('one', ''), end],
    settings,
  });
  const client = await connect(world);
  client.answer = () => select('allow-always-in-folder');
  await client.prompt(await client.newSession(world.headless.folder), 'Write.');
  const options = (client.asked[0]?.params as { options: { kind: string }[] }).options.map(({ kind }) => kind);
  expect(options).toEqual(['allow_once', 'reject_once']);
  // An option that was not offered is not an approval.
  expect(await readFile(join(world.headless.folder, 'menu.txt'), 'utf8').catch(() => 'absent')).toBe('absent');
});

test('without a window: loading a session again while its approval is open asks no second time', async () => {
  const { folder, connect: open } = await startAcp(write('w', 'Tea.\n'), end);
  const client = await open();
  const session = await client.newSession(folder);
  const { promise: answer, resolve } = Promise.withResolvers<object>();
  const asked = new Promise<void>((done) => {
    client.answer = () => {
      done();
      return answer;
    };
  });
  const prompted = client.prompt(session, 'Write.');
  await asked;
  await client.request('session/load', { sessionId: session, cwd: folder, mcpServers: [] });
  resolve(select('allow-once'));
  expect((await prompted).result).toEqual({ stopReason: 'end_turn' });
  expect(asks(client)).toEqual(['w']);
});
