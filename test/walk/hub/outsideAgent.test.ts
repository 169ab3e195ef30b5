// An outside agent through MCP: it exchanges messages with a conversation, serves the hub alone, and takes over when
// the window closes.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type HubMcpClient, startHubMcp } from '../../support/hubMcpClient.ts';
import { runs } from '../../support/runs.ts';
import { type HubWindow, makeHome, openHubWindow } from '../../support/walk/hubWalks.ts';

const done = { text: ['Done.'] };
const call = (id: string, name: string, args: object) => ({ calls: [{ id, name, arguments: args }] });
const received = (event: LogEvent) =>
  event.type === 'notification_queued' && event.notification.kind.source === 'message';

async function go({ headless, id }: HubWindow, text: string): Promise<void> {
  expect(await headless.earshot.send(id, text)).toMatchObject({ ok: true });
  await headless.earshot.settled(id);
}

// `npm test` runs only the newer revision; the older one differs only in how the client connects.
test.each(runs(1, 2) === 1 ? [true] : [true, false])(
  'an outside agent and a conversation ask and answer each other (MCP of 2026: %s)',
  async (modern) => {
    const home = await makeHome();
    const window = await openHubWindow(home, []);
    const { folder } = window.headless;
    const outside = await startHubMcp({ home, folder, flags: ['--role', 'tester'], modern });
    expect(await outside.tools()).toEqual(['send_message', 'check_messages', 'wait_for_message', 'list_agents']);
    const name = await window.name();
    const listed = await outside.call('list_agents');
    expect(listed).toContain('You are claude-code (tester).');
    expect(listed).toContain(name);
    expect(await outside.call('check_messages')).toBe('No unread messages.');
    expect(await outside.call('wait_for_message', { timeout_seconds: 0.01 })).toBe('No message came within 0.01 s.');

    expect(await outside.call('send_message', { content: 'Which test fails?', to: [name] })).toContain(`to ${name}`);
    const asked = JSON.stringify(await window.event(received));
    expect(asked).toContain('The agent claude-code (tester) wrote to you');
    const id = /msg_\w+/.exec(asked)?.[0] ?? '';
    const waiting = outside.call('wait_for_message', { timeout_seconds: 60 });
    window.server.script(call('c1', 'send_message', { content: 'The third.\n> really', reply_to: id }), done);
    await go(window, 'Answer.');
    const answer = await waiting;
    expect(answer).toContain(`of the agent ${name}`);
    expect(answer).toContain('| The third.\n| > really');
    expect(await outside.call('check_messages')).toBe('No unread messages.');
    window.server.script(call('c2', 'send_message', { content: 'To the role.', to: ['tester'] }), done);
    await go(window, 'Again.');
    expect(await outside.call('wait_for_message')).toContain('| To the role.');
  },
);

test('outside agents exchange messages without a window, even if the one serving the hub is killed; wrong arguments are refused', async () => {
  const home = await makeHome();
  const folder = join(home, 'work');
  await mkdir(folder);
  const one = await startHubMcp({ home, folder, flags: ['--name', 'one'] });
  await one.call('list_agents');
  const two = await startHubMcp({ home, folder, flags: ['--name', 'two'] });
  await two.call('list_agents');
  await one.call('send_message', { content: 'before', to: ['two'] });
  const three = await startHubMcp({ home, folder, flags: ['--name', 'three'] });
  await three.call('list_agents');
  process.kill(one.pid, 'SIGKILL');
  await three.call('send_message', { content: 'after', to: ['two'] });
  const first = await two.call('check_messages');
  const texts = first.includes('after') ? first : `${first}\n${await two.call('wait_for_message')}`;
  expect(texts.match(/\| \w+/g)).toEqual(['| before', '| after']);
  expect(await two.call('check_messages')).toBe('No unread messages.');
  await expectRefusals(two);
});

test('a second agent of the same name gets a number, and the last messages that a killed agent received are delivered again', async () => {
  const home = await makeHome();
  const folder = join(home, 'work');
  await mkdir(folder);
  const keeper = await startHubMcp({ home, folder, flags: ['--name', 'keeper'] });
  expect(await keeper.call('list_agents')).toBe('You are keeper.\nThere are no other agents.');
  const first = await startHubMcp({ home, folder, client: 'Codex' });
  expect(await first.call('list_agents')).toContain('You are codex.');
  const second = await startHubMcp({ home, folder, client: 'Codex' });
  expect(await second.call('list_agents')).toContain('You are codex-2.');
  await keeper.call('send_message', { content: 'once', to: ['codex'] });
  expect(await first.call('wait_for_message')).toContain('| once');
  process.kill(first.pid, 'SIGKILL');
  await expect.poll(() => keeper.call('list_agents')).toContain('codex: last seen');
  const again = await startHubMcp({ home, folder, client: 'Codex' });
  expect(await again.call('check_messages')).toContain('| once');
  expect(await again.call('check_messages')).toBe('No unread messages.');
});

/** Checks that invalid arguments are refused with the reason. */
async function expectRefusals(agent: HubMcpClient): Promise<void> {
  await expect(agent.call('send_message', { content: 'x' })).rejects.toThrow('to, files or reply_to');
  await expect(agent.call('send_message', { content: 'x', to: ['nobody'] })).rejects.toThrow(
    'No agent and no role is called nobody.',
  );
  await expect(agent.call('send_message', { content: 'x', reply_to: 'msg_0' })).rejects.toThrow(
    'There is no message msg_0',
  );
  await expect(agent.call('check_messages', { id: 'msg_0' })).rejects.toThrow('There is no message msg_0');
}
