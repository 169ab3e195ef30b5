// A conversation that is not shown stays live only while a command runs in it, also over a restart.
import { afterEach, expect, test } from 'vitest';
import { KeepAlive } from '../../../src/core/keepAlive.ts';
import { createChatModel } from '../../../src/models/chat/chatModel.ts';
import { scopeOf } from '../../../src/protocol/scopes.ts';
import { createManualClock } from '../../support/manualClock.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { type Headless, startHeadless } from '../../support/walk/headless.ts';

let server: ScriptedServer;
let window: Headless;
let keepAlive: KeepAlive;
const clock = createManualClock();

afterEach(async () => {
  keepAlive.dispose();
  await window.end();
  await server.stop();
});

async function begin(command: string): Promise<string> {
  const args = { command, background: true, handle: 'job' };
  server = await startScriptedServer(
    { calls: [{ id: 'a', name: 'run_command', arguments: args }] },
    { text: ['Done.'] },
  );
  const model = createChatModel({ baseUrl: server.baseUrl, model: 'm', options: {}, apiKey: async () => 'k' });
  window = await startHeadless({
    model,
    settings: { 'approvals.mode': 'all', 'notifications.activation': 'passive' },
  });
  startKeepAlive();
  const opened = await window.earshot.create();
  if (!opened.ok) throw new Error(opened.failure.message);
  const { id } = opened.value.log;
  await window.earshot.send(id, 'Begin.');
  await window.earshot.settled(id);
  return id;
}

function startKeepAlive(): void {
  const { earshot, handles, supervision, wakes } = window;
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  keepAlive = new KeepAlive({ earshot, handles, supervision, wakes, clock, logger: log });
}

test('a hidden conversation closes only once the end of its last command is queued', async () => {
  const id = await begin('read line');
  await keepAlive.leave(id);
  expect(window.earshot.get(id)?.owned).toBe(true);
  const [job] = window.handles.list(id);
  await job?.write('\n');
  await expect.poll(() => window.earshot.get(id)?.log.state.pending.count).toBe(1);
  clock.advance(4900);
  expect(window.earshot.get(id)).toBeDefined();
  clock.advance(200);
  await expect.poll(() => window.earshot.get(id)).toBeUndefined();
});

test('a conversation shown again stays open; one without commands closes at once', async () => {
  const id = await begin('read line');
  await keepAlive.leave(id);
  const shown = keepAlive.hold(id, false);
  const [job] = window.handles.list(id);
  await job?.write('\n');
  await job?.until((one) => one.hasEnded);
  clock.advance(60_000);
  expect(window.earshot.get(id)).toBeDefined();
  shown.dispose();
  await keepAlive.leave(id);
  expect(window.earshot.get(id)).toBeUndefined();
});

test('a hold that is released after the window has ended starts no timer', async () => {
  const id = await begin('true');
  const hold = keepAlive.hold(id, true);
  await window.handles.list(id)[0]?.until((one) => one.hasEnded);
  keepAlive.dispose();
  const before = clock.waiting;
  hold.dispose();
  expect(clock.waiting).toBe(before);
});

test('a hidden conversation that another agent mentioned stays live until it is notified', async () => {
  const id = await begin('true');
  await window.handles.list(id)[0]?.until((one) => one.hasEnded);
  await window.earshot.publish({
    kind: { source: 'message', name: 'received' },
    level: 'warning',
    message: 'The agent teal-otter wrote to you.',
    scopes: [scopeOf('conversation', id), scopeOf('mention', 'amber-finch')],
    origin: 'agent',
    at: '2026-01-01T00:00:00.000Z',
  });
  await keepAlive.leave(id);
  clock.advance(60_000);
  expect(window.earshot.get(id)).toBeDefined();
  server.script({ text: ['Done.'] });
  await window.earshot.deliverNow(id);
  await window.earshot.settled(id);
  clock.advance(5000);
  await expect.poll(() => window.earshot.get(id)).toBeUndefined();
});

test('after a restart only conversations with running commands are live again', async () => {
  const id = await begin('sleep 1000');
  const other = await window.earshot.create();
  const otherId = other.ok ? other.value.log.id : '';
  keepAlive.dispose();
  window = await window.restart();
  startKeepAlive();
  await keepAlive.reattach([id, otherId]);
  expect(window.handles.list(id).map(({ state }) => state)).toEqual(['running']);
  expect(window.earshot.get(otherId)).toBeUndefined();
});
