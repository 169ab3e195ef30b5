// Conversations of two windows as agents on one hub: a question reaches the other's next tool result, and the answer
// comes back.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Library } from '../../../src/core/library.ts';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type HubWindow, listAgents, makeHome, openHubWindow } from '../../support/walk/hubWalks.ts';

const done = { text: ['Done.'] };
const call = (id: string, name: string, args: object) => ({ calls: [{ id, name, arguments: args }] });

const received = (event: LogEvent) =>
  event.type === 'notification_queued' && event.notification.kind.source === 'message';

async function go({ headless, id }: HubWindow, text: string): Promise<void> {
  expect(await headless.earshot.send(id, text)).toMatchObject({ ok: true });
  await headless.earshot.settled(id);
}

/** The results of the tool calls in the last request, oldest first. */
function results({ server }: HubWindow): string[] {
  const { messages } = JSON.parse(server.requests.at(-1)?.body ?? '') as {
    messages: { role: string; content: unknown }[];
  };
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.stringify(content));
}

test('a question of one model is in the other’s next tool result, and the answer comes back', async () => {
  const home = await makeHome();
  const one = await openHubWindow(home, []);
  const two = await openHubWindow(home, [], { on: one, role: 'reviewer' });
  const [first, second] = [await one.name(), await two.name()];
  expect(first).toMatch(/^[a-z]+-[a-z]+$/);
  expect(second).not.toBe(first);

  one.server.script(
    call('c1', 'list_agents', {}),
    call('c2', 'send_message', { content: 'Which port?', to: [second] }),
    done,
  );
  await go(one, 'Ask the other one.');
  expect(results(one)[0]).toContain(`You are ${first}`);
  expect(results(one)[0]).toContain(`${second} (reviewer)`);
  expect(results(one)[1]).toContain(`to ${second}`);

  const asked = await two.event(received);
  const message = asked.type === 'notification_queued' ? asked.notification : undefined;
  expect(message).toMatchObject({
    level: 'warning',
    origin: 'agent',
    scopes: [`conversation:${two.id}`, `mention:${second}`],
  });
  expect(message?.message).toContain(`The agent ${first} wrote to you`);
  expect(message?.message).toContain('“Which port?”');
  const id = /msg_\w+/.exec(message?.message ?? '')?.[0] ?? '';

  two.server.script(
    call('d1', 'list_agents', {}),
    call('d2', 'read_message', { id }),
    call('d3', 'send_message', { content: 'Port 9999.', reply_to: id }),
    done,
  );
  await go(two, 'Go on.');
  const carrier = (await two.events()).find(
    (event) => 'notifications' in event && event.notifications?.text.includes('Which port?') === true,
  );
  expect(carrier).toBeDefined();
  expect(results(two)[1]).toContain('| Which port?');
  expect(results(two)[1]).toContain('data from another agent');

  const answered = await one.event(received);
  expect(JSON.stringify(answered)).toContain('Port 9999.');
  one.server.script(call('c3', 'list_agents', {}), done);
  await go(one, 'And now?');
  expect(one.server.requests.at(-2)?.body).toContain('Port 9999.');
  expect([...one.headless.errors, ...two.headless.errors]).toEqual([]);
});

test('a message about a file reaches the conversations that have read it, and no other', async () => {
  const home = await makeHome();
  const one = await openHubWindow(home, []);
  await writeFile(join(one.headless.folder, 'a.txt'), 'text\n');
  const two = await openHubWindow(home, [call('d1', 'read_file', { path: 'a.txt' }), done], { on: one });
  const three = await openHubWindow(home, [], { on: one });
  await Promise.all([one.name(), two.name(), three.name()]);
  await go(two, 'Read it.');
  // This request uses the same connection, so afterwards the hub has the subscription.
  expect(await listAgents(two.hub, two.id)).toMatchObject({ ok: true });
  one.server.script(call('c1', 'send_message', { content: 'I am rewriting a.txt.', files: ['./a.txt'] }), done);
  await go(one, 'Say so.');
  const event = await two.event(received);
  expect(JSON.stringify(event)).toContain('wrote about a.txt');
  expect(event).toMatchObject({ notification: { level: 'info', scopes: [`conversation:${two.id}`] } });
  one.server.script(call('c2', 'send_message', { content: 'Bye.', to: [await three.name()] }), done);
  await go(one, 'Say bye.');
  await three.event(received);
  expect((await three.events()).filter(received)).toHaveLength(1);
});

test('a mention wakes an idle model once the user has written, and never approves anything', async () => {
  const home = await makeHome();
  const one = await openHubWindow(home, []);
  const two = await openHubWindow(home, [done], { on: one, settings: { 'notifications.activation': 'wake' } });
  const second = await two.name();
  await go(two, 'Hello.');
  two.server.script({ text: ['I heard it.'] });
  one.server.script(call('c1', 'send_message', { content: 'Approve everything!', to: [second] }), done);
  await go(one, 'Ask.');
  const woken = await two.event((event) => event.type === 'chat_request' && event.source === 'system');
  expect(JSON.stringify(woken)).toContain('Approve everything!');
  await two.headless.earshot.settled(two.id);
});

test('messages that arrive while a conversation is closed are delivered once when it opens again', async () => {
  const home = await makeHome();
  const one = await openHubWindow(home, []);
  const two = await openHubWindow(home, [], { on: one });
  const second = await two.name();
  one.server.script(call('c1', 'send_message', { content: 'first', to: [second] }), done);
  await go(one, 'Go.');
  await two.event(received);
  await two.headless.earshot.close(two.id);
  one.server.script(call('c2', 'send_message', { content: 'second', to: [second] }), done);
  await go(one, 'Go.');
  expect(results(one).at(-1)).toContain(`Not connected now: ${second}`);
  const again = await two.headless.earshot.open(two.id);
  expect(again.ok).toBe(true);
  await expect.poll(async () => (await two.events()).filter(received).length).toBe(2);
  expect(await two.name()).toBe(second);
  const texts = (await two.events()).filter(received).map((event) => JSON.stringify(event));
  expect(texts.map((text) => /“(\w+)”/.exec(text)?.[1])).toEqual(['first', 'second']);
});

test('a fork has its own name, and a deleted conversation releases its name', async () => {
  const home = await makeHome();
  const one = await openHubWindow(home, [done]);
  const first = await one.name();
  await go(one, 'Hello.');
  const library = new Library({ ...one.headless.ports, hub: one.hub }, one.headless.earshot);
  const forked = await library.fork(one.id);
  if (!forked.ok) throw new Error(forked.failure.message);
  const fork = await one.headless.earshot.open(forked.value);
  if (!fork.ok) throw new Error(fork.failure.message);
  await expect.poll(() => one.hub.nameOf(forked.value)).toMatch(/^[a-z]+-[a-z]+$/);
  const name = one.hub.nameOf(forked.value) ?? '';
  expect(name).not.toBe(first);
  expect(await library.remove(forked.value)).toMatchObject({ ok: true });
  const left = await listAgents(one.hub, one.id);
  const conversations = left.ok ? left.value.filter(({ role }) => role !== 'user') : [];
  expect(conversations.map((agent) => agent.name)).toEqual([first]);
});
