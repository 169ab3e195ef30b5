// The overview beside the Notifications view, in VS Code: the timeline of real events opens the chat and the request, real
// notifications are counted, and a kind is muted and unmuted.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Frame } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';
import { showInThemes } from '../../support/vscode/allThemes.ts';

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

const read = (id: string, path: string) => ({ id, name: 'read_file', arguments: { path } });

/** The frame of the overview, once it shows this. */
async function overview(text: string | RegExp): Promise<Frame> {
  let found: Frame | undefined;
  await expect
    .poll(async () => {
      for (const frame of workbench.page.frames()) {
        const main = frame.locator('main.overview').filter({ hasText: text });
        if ((await main.count().catch(() => 0)) > 0) found = frame;
      }
      return found;
    })
    .toBeDefined();
  if (found === undefined) throw new Error('there is no overview');
  return found;
}

test('a delivered change is in the timeline with its request, and counted as used when the model reads the file again; its kind is muted and unmuted', async () => {
  const write = (text: string) => writeFile(join(workbench.folder, 'tea.txt'), text);
  await write('one cup\n');
  server.script({ calls: [read('o1', 'tea.txt')] }, { text: ['Read.'] });
  await workbench.openChat();
  await workbench.say('Read it.');
  await workbench.settled();
  await write('two cups\n');
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
  server.script({ calls: [read('o2', 'tea.txt')] }, { text: ['Two.'] });
  await workbench.say('How many?');
  await workbench.settled();

  await workbench.command('Earshot: Show Notifications Overview');
  const frame = await overview('Last hour');
  const area = frame.getByRole('application', { name: /^Timeline with \d+ events/ });
  await area.focus();
  // The last item is a model call. The change is in the lane below, since it was made outside.
  await workbench.page.keyboard.press('ArrowLeft');
  await workbench.page.keyboard.press('ArrowDown');
  const status = frame.getByRole('status');
  await expect.poll(() => status.innerText()).toMatch(/File changed · tea\.txt · delivered with the request of \d/);
  await showInThemes(workbench, 'overview-timeline', frame);
  await frame.getByRole('button', { name: 'Show what the model saw' }).click();
  await workbench.page.getByRole('tab', { name: /^Request/ }).waitFor();
  // Opens the message that carried it.
  await workbench.page.keyboard.press('Escape');
  await frame.getByRole('button', { name: 'Show in chat' }).click();
  const message = workbench.transcript().locator('.item').filter({ hasText: 'How many?' });
  await expect.poll(() => message.evaluate((element) => element.contains(document.activeElement))).toBe(true);

  await frame.getByRole('button', { name: 'Use of notifications' }).click();
  await frame.getByText('File changed').first().waitFor();
  const row = frame.getByRole('row', { name: /^File changed/ });
  expect((await row.innerText()).replaceAll(/\s+/g, ' ')).toMatch(/^File changed · Files 1 \d+ 1 of 1$/);
  await frame.getByText(/^read 1/).waitFor();
  await showInThemes(workbench, 'overview-use', frame);

  await workbench.startCommand('Earshot: Mute This Kind…');
  const picker = workbench.page.locator('.quick-input-widget');
  await picker.getByPlaceholder('Select the kind of notification to mute').fill('File changed');
  await picker.locator('.monaco-list-row').filter({ hasText: 'File changed' }).first().click();
  await frame.getByRole('button', { name: 'Undo muting: File changed' }).click();
  await frame.getByText('Muted', { exact: true }).waitFor({ state: 'detached' });
  await write('three cups\n');
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);

  await frame.getByRole('button', { name: 'Export as JSON' }).click();
  await workbench.page.locator('.monaco-editor').getByText('"delivered": 1,').first().waitFor();
  // It would ask whether to save the document.
  await workbench.command('View: Revert and Close Editor');
});

test('a kind that is muted in the list of pending notifications can be unmuted above the chat, where no toast covers it', async () => {
  const write = (text: string) => writeFile(join(workbench.folder, 'cups.txt'), text);
  await write('one cup\n');
  await workbench.reset();
  server.script({ calls: [read('o3', 'cups.txt')] }, { text: ['Read.'] });
  await workbench.say('Read it.');
  await workbench.settled();
  await write('two cups\n');
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
  await workbench.command('Notifications: Clear All Notifications');
  const list = await workbench.openList('Pending notifications');
  await list.getByRole('button', { name: /^Mute: File changed/ }).click();
  await workbench
    .chat()
    .getByRole('menuitem', { name: /Mute .*File changed/ })
    .click();
  const offer = workbench
    .chat()
    .getByRole('status')
    .filter({ hasText: 'Notifications of this kind are muted: File changed.' });
  await offer.waitFor();
  await workbench.screenshot('muted-undo');
  expect(await workbench.page.locator('.notification-toast, .notification-list-item').count()).toBe(0);
  await offer.getByRole('button', { name: 'Undo' }).click();
  await offer.waitFor({ state: 'detached' });
  await write('three cups\n');
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s[12]/);
});
