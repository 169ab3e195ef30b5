// The user writes to a conversation in the Agents view: the message is pending there and in the chat's drawer until the
// model receives it.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conversationHead, summarizePending } from '../../../src/core/frontend/chatHead.ts';
import { Activities } from '../../../src/core/frontend/conversationActivity.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { readSettings } from '../../../src/protocol/settings.ts';
import { liveAgents, readAgents } from '../../../src/vscode/hub/agentRows.ts';
import { type HubWindow, makeHome, openHubWindow } from '../../support/walk/hubWalks.ts';

const received = (event: LogEvent) =>
  event.type === 'notification_queued' && event.notification.kind.source === 'message';
const { settings } = readSettings(() => undefined);
const model = { label: 'm', detail: '', contextWindow: 100_000 };

/** The list of agents, computed as the view's controller does. */
function agentsOf({ hub, headless: { earshot } }: HubWindow) {
  const activities = new Activities({
    get: (id) => ({ title: '', running: earshot.get(id)?.running === true }),
    requests: { all: [] },
    isShown: () => false,
  });
  return () => liveAgents(hub, earshot, activities);
}

/** The entries of the drawer. */
function drawerOf({ headless, id }: HubWindow): string[] {
  const live = headless.earshot.get(id);
  const pending = summarizePending(live, model, settings);
  const { pending: shown } = conversationHead({
    ...{ live, model, settings, pending },
    ...{ canSend: true, obstacles: [], others: [] },
  });
  return shown?.entries.map(({ message }) => message) ?? [];
}

test('a message of the user is pending in the Agents view and the drawer until a request of the running turn contains it', async () => {
  const window = await openHubWindow(await makeHome(), [
    { calls: [{ id: 'c1', name: 'run_command', arguments: { command: 'cat pipe' } }] },
    { text: ['I see.'] },
  ]);
  const { headless, hub, server, id } = window;
  const name = await window.name();
  const user = hub.user();
  if (user === undefined) throw new Error('not on a hub');
  await expect.poll(() => user.isConnected).toBe(true);
  const agents = agentsOf(window);
  const pipe = join(headless.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  expect(await headless.earshot.send(id, 'Work.')).toMatchObject({ ok: true });
  await window.event(({ type }) => type === 'tool_call_request');

  const thread = await user.send({ content: 'Which port?', mentions: [name], scopes: [], title: 'The port' });
  await window.event(received);
  const waiting = await readAgents(user, thread, agents);
  expect(waiting.thread?.messages).toMatchObject([{ own: true, text: 'Which port?', pendingIn: ['Work.'] }]);
  expect(waiting.agents.find((one) => one.name === name)).toMatchObject({
    kind: 'here',
    conversation: id,
    activity: 'running',
    unread: 1,
  });
  expect(drawerOf(window)).toEqual([expect.stringContaining('Which port?')]);
  expect(server.requests.at(-1)?.body).not.toContain('Which port?');

  await writeFile(pipe, 'worked\n');
  await headless.earshot.settled(id);
  expect(server.requests.at(-1)?.body).toContain('Which port?');
  const after = await readAgents(user, thread, agents);
  expect(after.thread?.messages).toMatchObject([{ pendingIn: [] }]);
  expect(after.agents.find((one) => one.name === name)).toMatchObject({ unread: 0 });
  expect(drawerOf(window)).toEqual([]);
});
