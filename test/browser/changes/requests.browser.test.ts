// What the model saw, in VS Code: the request of an answer and of a call as a document, stepping, the difference to the one
// before, a file compared with now, and the bug report.
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

test('an answer and a call show their requests, which are stepped through and compared', async () => {
  await writeFile(join(workbench.folder, 'tea.txt'), 'sencha\n');
  server.script(
    { calls: [{ id: 'q1', name: 'read_file', arguments: { path: 'tea.txt' } }] },
    { text: ['There is sencha.'] },
  );
  await workbench.openChat();
  await workbench.say('Which tea is there?');
  await workbench.settled();
  const { page } = workbench;
  const tab = (name: string | RegExp) => page.getByRole('tab', { name });
  const lines = page.locator('.editor-group-container.active .view-lines').last();
  await workbench.chat().locator('.answer').last().hover();
  await workbench.chat().getByRole('button', { name: 'Show what the model saw' }).last().click();
  await tab(/Request 2 of 2\.jsonc/).waitFor();
  await lines.getByText('as it was sent: length and checksum are the same').waitFor();
  await lines.getByText('tea.txt · all of it').waitFor();
  await showInThemes(workbench, 'request-document', await chatFrame(page));

  await lines.click();
  await page.keyboard.press('Alt+ArrowLeft');
  await tab(/Request 1 of 2\.jsonc/).waitFor();
  await page.keyboard.press('Alt+ArrowRight');
  await tab(/Request 2 of 2\.jsonc/).waitFor();
  await page
    .getByRole('button', { name: /^Compare with Previous Request/ })
    .first()
    .click();
  await tab(/Request 1 ↔ 2/).waitFor();
  await workbench.screenshot('request-difference');

  // A file as it was known with a request, and now.
  await writeFile(join(workbench.folder, 'tea.txt'), 'gyokuro\n');
  await lines.click();
  await page.keyboard.press('Alt+ArrowRight');
  await page
    .getByRole('button', { name: /^Compare File with Now/ })
    .first()
    .click();
  await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'tea.txt' }).click();
  await tab(/tea\.txt \(with request 2 ↔ now\)/).waitFor();
  await page.locator('.monaco-diff-editor').getByText('gyokuro').first().waitFor();
  await workbench.screenshot('request-file-difference');

  const card = workbench.card('Read tea.txt');
  await card.locator('.tool-head').click({ position: { x: 8, y: 8 } });
  await card.getByRole('button', { name: 'Show what the model saw' }).click();
  await tab(/Request 1 of 2\.jsonc/).waitFor();
  await lines.getByText('as it was sent: length and checksum are the same').waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page
    .getByRole('button', { name: /^Copy as Bug Report/ })
    .first()
    .click();
  await page.getByText('The bug report is in the clipboard.').first().waitFor();
  const report = await page.evaluate(() => navigator.clipboard.readText());
  expect(report).toMatch(/^# Earshot: bug report\n/);
  expect(report).toContain('- Request 1 of 2\n');
  expect(report).toContain('Which tea is there?');
  expect(report).not.toContain(workbench.folder);
  expect(server.requests.length).toBeGreaterThanOrEqual(2);
});
