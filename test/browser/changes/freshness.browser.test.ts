// What the model knows of files, in VS Code: the ring and its list after real changes on disk, the difference in an editor,
// and an update that the next request carries.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';
import { chatFrame, showInThemes } from '../../support/vscode/allThemes.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'scripted-model' },
}));

const LINES = Array.from({ length: 60 }, (_, index) => `tea number ${index + 1}`);
const LARGE = `${LINES.map((line) => `${line}, dearer`).join('\n')}\n`;

test('a change on disk is pending, then not shown whole; its difference opens in an editor, and *Update* queues it', async () => {
  const write = (path: string, text: string) => writeFile(join(workbench.folder, path), text);
  await write('tea.txt', `${LINES.join('\n')}\n`);
  await write('cups.txt', 'one cup\n');
  const read = (id: string, path: string) => ({ id, name: 'read_file', arguments: { path } });
  server.script({ calls: [read('k1', 'tea.txt'), read('k2', 'cups.txt')] }, { text: ['Read.'] });
  await workbench.openChat();
  await workbench.say('Read them.');
  await workbench.settled();
  const ring = workbench.chat().locator('button.freshness');
  await expect.poll(() => ring.textContent()).toMatch(/2 current2\/2$/);

  await write('tea.txt', LARGE);
  await expect.poll(() => ring.textContent()).toMatch(/1 changed, report pending1\/2$/);
  await ring.click();
  const panel = workbench.chat().getByRole('dialog', { name: 'What the model knows' });
  const row = panel.locator('.freshness-file').filter({ hasText: 'tea.txt' });
  await row.getByText('Changed, report pending').waitFor();
  await showInThemes(workbench, 'freshness-pending', await chatFrame(workbench.page));
  await row.getByRole('button', { name: 'Show difference: tea.txt' }).click();
  await workbench.page.getByRole('tab', { name: /tea\.txt \(last read ↔ now\)/ }).waitFor();
  await workbench.page.locator('.monaco-diff-editor').getByText('tea number 7, dearer').first().waitFor();
  await workbench.screenshot('freshness-difference');

  server.script({ text: ['Seen.'] });
  await workbench.say('Go on.');
  await workbench.settled();
  await expect.poll(() => ring.textContent()).toMatch(/1 changed, not shown whole1\/2$/);
  if ((await panel.count()) === 0) await ring.click();
  await row.getByText('Changed, not shown whole').waitFor();
  await row.getByRole('button', { name: 'Update: tea.txt' }).click();
  await row.getByText('Changed, report pending').waitFor();
  server.script({ text: ['Seen.'] });
  await workbench.say('Go on.');
  await workbench.settled();
  expect(server.requests.at(-1)?.body).toContain('+tea number 7, dearer');
  await expect.poll(() => ring.textContent()).toMatch(/1 changed and reported2\/2$/);
});
