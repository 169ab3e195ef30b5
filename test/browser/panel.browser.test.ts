// The panel in the real window: title bar, background conversations that need the user, the Notifications view.
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../support/models/scriptedServer.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: {
    'earshot.baseUrl': server.baseUrl,
    'earshot.model': 'scripted-model',
    'earshot.notifications.activation': 'passive',
  },
}));

beforeEach(async () => {
  server.restart();
  await workbench.openChat();
  await workbench.reset();
});

const done: ScriptedAnswer = { text: ['That is done.'] };

test('a conversation continues while another is shown; its approval is announced and opened from the status bar', async () => {
  server.script({ calls: [{ id: 'p1', name: 'run_command', arguments: { command: 'echo one' } }] }, done);
  await workbench.say('Start in the background.');
  await workbench.card('Run echo one').getByRole('button', { name: 'Approve' }).waitFor();
  await workbench.page.getByRole('button', { name: 'New Chat' }).first().click();
  await workbench.chat().locator('.welcome').waitFor();
  await workbench
    .chat()
    .getByRole('button', { name: /Another conversation needs you/ })
    .waitFor();
  await expect.poll(() => workbench.statusBar().innerText()).toContain('waiting for approval');
  await workbench.screenshot('panel-other-waits');
  // The list in the panel shows it too.
  await workbench.page.getByRole('button', { name: 'Show Conversations' }).first().click();
  const row = workbench.chat().locator('.conversation-row').filter({ hasText: 'Start in the background.' });
  await row.getByText('Needs approval').waitFor();
  await workbench.screenshot('panel-conversations');
  await workbench.page.keyboard.press('Escape');
  await workbench.statusBar().click();
  await workbench.card('Run echo one').getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();
});

test('with a hidden view, a message is shown that opens the approval, and it is gone with the view’s return', async () => {
  server.script({ calls: [{ id: 'p2', name: 'run_command', arguments: { command: 'echo two' } }], hang: true }, done);
  await workbench.say('Ask me while I look away.');
  await server.request(0);
  await workbench.command('View: Toggle Secondary Side Bar Visibility');
  await workbench.composer().waitFor({ state: 'hidden' });
  server.release();
  await expect.poll(() => workbench.statusBar().innerText()).toContain('waiting for approval');
  // A workbench under automation shows no toasts, so messages are read from the notification centre.
  const centre = workbench.page.locator('.notifications-center');
  const look = async () => {
    if (await centre.isVisible()) await workbench.command('Notifications: Hide Notifications');
    await workbench.command('Notifications: Show Notifications');
    return centre.innerText();
  };
  await expect.poll(look, { interval: 1000 }).toContain('needs your approval: echo two');
  const message = centre
    .locator('.notification-list-item')
    .filter({ hasText: 'needs your approval: echo two' })
    .first();
  await workbench.screenshot('panel-message');
  await message.getByText('Show', { exact: true }).click();
  const approve = workbench.card('Run echo two').getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  await expect.poll(look, { interval: 1000 }).not.toContain('echo two');
  // The notification centre would cover the composer.
  if (await centre.isVisible()) await workbench.command('Notifications: Hide Notifications');
  await approve.click();
  await workbench.settled();
});

test('a message about an approval is gone when the approval is answered elsewhere; its text contains no link of the model', async () => {
  const command = 'echo [three](command:earshot.approve)';
  server.script({ calls: [{ id: 'p4', name: 'run_command', arguments: { command } }], hang: true }, done);
  await workbench.say('Ask me while I look away.');
  await server.request(0);
  await workbench.command('View: Toggle Secondary Side Bar Visibility');
  await workbench.composer().waitFor({ state: 'hidden' });
  server.release();
  const centre = workbench.page.locator('.notifications-center');
  const look = async () => {
    if (await centre.isVisible()) await workbench.command('Notifications: Hide Notifications');
    await workbench.command('Notifications: Show Notifications');
    return centre.innerText();
  };
  await expect.poll(look, { interval: 1000 }).toContain('needs your approval: echo [three]');
  const links = centre.locator('.notification-list-item').filter({ hasText: '[three]' }).locator('a[href]');
  expect(await links.allInnerTexts()).toEqual(['Show']);
  await workbench.command('Earshot: Stop');
  await expect.poll(look, { interval: 1000 }).not.toContain('[three]');
  await workbench.command('Notifications: Hide Notifications');
  await workbench.openChat();
  await workbench.settled();
});

test('while the chat is visible there is no message, and only a request to the user colours the status bar', async () => {
  const isColoured = () =>
    workbench
      .statusBar()
      .evaluate((item) => (item.closest('.statusbar-item') ?? item).classList.contains('warning-kind'));
  server.script({ calls: [{ id: 'p5', name: 'read_file', arguments: { path: 'src/menu.ts' } }] }, done);
  await workbench.say('Read it.');
  await workbench.settled();
  await appendFile(join(workbench.folder, 'src/menu.ts'), '// a routine change\n');
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
  expect(await isColoured()).toBe(false);
  server.script({ calls: [{ id: 'p6', name: 'run_command', arguments: { command: 'echo six' } }] }, done);
  await workbench.say('Go on.');
  await workbench.page.getByRole('button', { name: 'New Chat' }).first().click();
  await workbench
    .chat()
    .getByRole('button', { name: /Another conversation needs you/ })
    .waitFor();
  expect(await isColoured()).toBe(true);
  await workbench.command('Notifications: Show Notifications');
  expect(await workbench.page.locator('.notifications-center').innerText()).not.toContain('echo six');
  await workbench.command('Notifications: Hide Notifications');
  await workbench.statusBar().click();
  await workbench.card('Run echo six').getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
});

test('a changed file is pending in the drawer, dismissed, and listed in the Notifications view', async () => {
  server.script({ calls: [{ id: 'p3', name: 'read_file', arguments: { path: 'src/menu.ts' } }] }, done);
  await workbench.say('Read it.');
  await workbench.settled();
  await appendFile(join(workbench.folder, 'src/menu.ts'), '// more\n');
  const drawer = await workbench.openList('Pending notifications');
  await drawer.getByText('1 pending notification').waitFor();
  await drawer.getByText('File changed · src/menu.ts').waitFor();
  await workbench.screenshot('panel-drawer');
  await drawer.getByRole('button', { name: 'Show all notifications' }).click();
  const tree = workbench.page.locator('.pane-body .monaco-list').filter({ hasText: /Pending|Dismissed/ });
  await tree.getByText('File changed · src/menu.ts').waitFor();
  await workbench.screenshot('panel-notifications-view');
  await drawer.getByRole('button', { name: 'Dismiss: File changed · src/menu.ts' }).click();
  await drawer.waitFor({ state: 'detached' });
  await tree.getByText('Dismissed').waitFor();
  await workbench.screenshot('panel-notifications-dismissed');
});
