// A window and an outside agent on one hub: the Agents view and the web chat, a question and its answer, and a kill of
// the window that serves the hub. `npm run test:full` does the same with a second window.
import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LogEvent } from '../../../src/protocol/event.ts';
import { type HubMcpClient, startHubMcp } from '../../support/hubMcpClient.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { isFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'm', 'earshot.approvals.mode': 'all' },
}));

const done = { text: ['Done.'] };
const call = (id: string, name: string, args: object) => ({ calls: [{ id, name, arguments: args }] });

/** The logs of all conversations. */
async function logs(): Promise<LogEvent[][]> {
  const names = await readdir(workbench.dataFolder, { recursive: true });
  const files = names.filter((name) => name.endsWith('events.jsonl')).map((name) => join(workbench.dataFolder, name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.map((text) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LogEvent),
  );
}

/** The log of the conversation that began with this message. */
async function logOf(message: string): Promise<LogEvent[]> {
  const begins = (events: readonly LogEvent[]) => events.find(({ type }) => type === 'chat_request');
  const found = (await logs()).find((events) => {
    const first = begins(events);
    return first?.type === 'chat_request' && first.content === message;
  });
  return found ?? [];
}

async function nameOf(message: string): Promise<string> {
  const named = (await logOf(message)).find(({ type }) => type === 'hub_agent');
  return named?.type === 'hub_agent' ? named.name : '';
}

/** The texts of all messages for which the conversation's log has notifications, oldest first. */
async function receivedBy(message: string): Promise<string[]> {
  return (await logOf(message)).flatMap((event) => {
    if (event.type !== 'notification_queued' || event.notification.kind.source !== 'message') return [];
    return [...event.notification.message.matchAll(/“([^”]*)”/g)].map(([, text]) => text ?? '');
  });
}

/** The pid of the process that serves the hub. */
async function servedBy(): Promise<number> {
  const hubs = join(workbench.dataFolder, 'home', '.earshot', 'hubs');
  const [hub = ''] = await readdir(hubs);
  return (JSON.parse(await readFile(join(hubs, hub, 'hub.json'), 'utf8')) as { pid: number }).pid;
}

/** Waits for the title, which reaches the hub after the name. */
async function untilListed(outside: HubMcpClient, name: string): Promise<void> {
  await expect.poll(() => outside.call('list_agents')).toContain(`${name}, “A title”: connected`);
}

/**
 * Checks that the Agents view lists the conversation of this window, and closes it again, because other tests expect
 * one page in a window.
 */
async function seesAgent(name: string, page: Page): Promise<void> {
  await workbench.command('Earshot: Show Agents', page);
  const pages = page.locator('iframe.webview');
  const row = pages.last().contentFrame().frameLocator('#active-frame').locator('.agent-row', { hasText: name });
  await row.getByText('A title').waitFor();
  await workbench.screenshot('agents', page);
  await workbench.command('View: Hide Panel', page);
  await expect.poll(() => pages.count()).toBe(1);
}

/** Checks that a message to the user is counted on the view's badge until its thread is opened. */
async function seesUnread(outside: HubMcpClient, page: Page): Promise<void> {
  await outside.call('send_message', { content: 'Tea is ready.', to: ['user'] });
  await workbench.command('Earshot: Show Agents', page);
  const badge = page.locator('.part.panel .badge-content', { hasText: /^1$/ });
  await badge.waitFor();
  const pages = page.locator('iframe.webview');
  const view = pages.last().contentFrame().frameLocator('#active-frame');
  await view.locator('.thread-open', { hasText: 'Tea is ready.' }).click();
  await view.locator('.thread-messages').getByText('Tea is ready.').waitFor();
  await badge.waitFor({ state: 'detached' });
  await workbench.command('View: Hide Panel', page);
  await expect.poll(() => pages.count()).toBe(1);
}

/**
 * Opens the web chat next to the window with the same conversation, and checks that a turn started there is shown in
 * both.
 */
async function usesWebChat(message: string, page: Page): Promise<void> {
  const opened = page.context().waitForEvent('page');
  await workbench.startCommand('Earshot: Open Web Chat', page);
  const web = await opened;
  // It opens with the conversation that the window shows.
  await web.getByRole('log').getByText(message).waitFor();
  expect(await web.locator('.title-bar-folder').innerText()).toBe(basename(workbench.folder));
  server.script({ text: ['Also in the browser.'] });
  await web.getByRole('textbox', { name: 'Message' }).fill('From the browser.');
  await web.keyboard.press('Enter');
  for (const log of [web.getByRole('log'), workbench.transcript(page)]) {
    await log.getByText('From the browser.').waitFor();
    await log.getByText('Also in the browser.').waitFor();
  }
  await workbench.screenshot('web-chat', web);
  await web.close();
  await workbench.command('Notifications: Clear All Notifications', page);
  await workbench.settled(page);
}

/**
 * Starts a conversation in the first window, which serves the hub. Returns its name on the hub, and the process id of
 * the hub.
 */
async function startFirst(): Promise<{ first: string; holder: number }> {
  const one = workbench.page;
  await workbench.openChat(one);
  server.script(done);
  await workbench.say('I am first.', one);
  await workbench.settled(one);
  await expect.poll(() => nameOf('I am first.')).toMatch(/^[a-z]+-[a-z]+$/);
  const holder = await servedBy();
  expect(workbench.server.extensionHostPids()).toContain(holder);
  return { first: await nameOf('I am first.'), holder };
}

/** Starts a command that runs until the file `pipe` is written. */
async function startWork(): Promise<string> {
  const pipe = join(workbench.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  server.script(call('a', 'run_command', { command: 'cat pipe' }));
  await workbench.say('Work.', workbench.page);
  await workbench.card('Run cat pipe', workbench.page).waitFor();
  return pipe;
}

/** Checks that the question received meanwhile is in the result of the command, and lets the model answer it. */
async function answerQuestion(pipe: string, asker: string): Promise<void> {
  const one = workbench.page;
  await expect.poll(() => receivedBy('I am first.')).toEqual(['Which port?']);
  const question = (await logOf('I am first.')).find(({ type }) => type === 'notification_queued');
  const id = /msg_\w+/.exec(JSON.stringify(question))?.[0] ?? '';
  const before = server.requests.length;
  server.script(call('c', 'send_message', { content: 'Port 9999.', reply_to: id }), done);
  await writeFile(pipe, 'worked\n');
  await workbench.settled(one);
  const { messages } = JSON.parse(server.requests[before]?.body ?? '') as {
    messages: { role: string; content: string }[];
  };
  expect(messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('Which port?') as string });
  await workbench
    .transcript(one)
    .getByRole('button', { name: `Message from an agent · ${asker}` })
    .first()
    .waitFor();
}

/** Checks that the window whose process was killed has every message after a reload. */
async function expectNothingLost(first: string): Promise<void> {
  const one = workbench.page;
  await workbench.reload(one);
  await workbench.openChat(one);
  // The window shows the conversation that it showed before.
  await workbench.transcript(one).getByText('I am first.').first().waitFor();
  await expect.poll(() => receivedBy('I am first.')).toEqual(['Which port?', 'before the kill', 'after the kill']);
  expect(await nameOf('I am first.')).toBe(first);
  const last = server.requests.length;
  server.script(done);
  await workbench.say('What did they write?', one);
  await workbench.settled(one);
  for (const text of ['before the kill', 'after the kill']) expect(server.requests[last]?.body).toContain(text);
}

test.skipIf(isFull)(
  'a window and an outside agent exchange messages, also when the serving window is killed',
  async () => {
    const { first, holder } = await startFirst();
    await seesAgent(first, workbench.page);
    await usesWebChat('I am first.', workbench.page);
    const outside = await startHubMcp({ home: join(workbench.dataFolder, 'home'), folder: workbench.folder });
    await untilListed(outside, first);
    const pipe = await startWork();
    await outside.call('send_message', { content: 'Which port?', to: [first] });
    await answerQuestion(pipe, 'claude-code');
    expect(await outside.call('wait_for_message')).toContain('| Port 9999.');

    // The window that serves the hub is killed; the outside agent continues meanwhile.
    await outside.call('send_message', { content: 'before the kill', to: [first] });
    process.kill(holder, 'SIGKILL');
    expect(await outside.call('send_message', { content: 'after the kill', to: [first] })).toContain(`to ${first}`);
    await expect.poll(servedBy).not.toBe(holder);
    await expectNothingLost(first);
    await outside.close();
  },
);

test.runIf(isFull)(
  'two windows and an outside agent exchange messages, also when the window that serves the hub is killed',
  async () => {
    const one = workbench.page;
    const { first, holder } = await startFirst();
    await seesAgent(first, workbench.page);
    await usesWebChat('I am first.', workbench.page);
    const two = await workbench.newWindow();
    await workbench.openChat(two);
    await workbench.command('Earshot: New Chat', two);
    await workbench.chat(two).locator('.welcome').waitFor();
    server.script(done);
    await workbench.say('I am second.', two);
    await workbench.settled(two);
    await expect.poll(() => nameOf('I am second.')).toMatch(/^[a-z]+-[a-z]+$/);
    const second = await nameOf('I am second.');
    const outside = await startHubMcp({ home: join(workbench.dataFolder, 'home'), folder: workbench.folder });
    await untilListed(outside, first);
    await seesUnread(outside, one);

    // The question of one model is in the other's next tool result.
    const pipe = await startWork();
    server.script(call('b', 'send_message', { content: 'Which port?', to: [first] }), done);
    await workbench.say('Ask the first.', two);
    await workbench.settled(two);
    await answerQuestion(pipe, second);
    await workbench.screenshot('hub-question', one);

    // The answer comes back with the other's next result.
    await expect.poll(() => receivedBy('I am second.')).toEqual(['Port 9999.']);
    const asked = server.requests.length;
    server.script(call('d', 'list_agents', {}), done);
    await workbench.say('And?', two);
    await workbench.settled(two);
    expect(server.requests[asked]?.body).toContain('Port 9999.');

    // The window that serves the hub is killed: it has every message when it returns, and the others continue
    // meanwhile.
    server.script(done);
    await workbench.say('Wait.', one);
    await workbench.settled(one);
    await outside.call('send_message', { content: 'before the kill', to: [first] });
    process.kill(holder, 'SIGKILL');
    expect(await outside.call('send_message', { content: 'after the kill', to: [first] })).toContain(`to ${first}`);
    await expect.poll(servedBy).not.toBe(holder);
    server.script(call('e', 'send_message', { content: 'Still here.', to: ['claude-code'] }), done);
    await workbench.say('Say so.', two);
    expect(await outside.call('wait_for_message')).toContain('| Still here.');
    await workbench.settled(two);
    await expectNothingLost(first);
    await outside.close();
    await two.close();
  },
);
