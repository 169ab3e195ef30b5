// A whole turn without the mouse: the chat is opened, a question answered, a change approved and reviewed. Then actions
// with the mouse in the transcript.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../support/models/scriptedServer.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';
import { createTabbing } from '../support/page/tabbing.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'scripted-model' },
}));
const { press, focused, tabTo, tabBack } = createTabbing(workbench);

test('a question, an approval and a review by keyboard alone', async () => {
  const file = () => readFile(join(workbench.folder, 'src/menu.ts'), 'utf8');
  const before = await file();
  const [first = ''] = before.split('\n');
  server.script(
    { calls: [{ id: 'q', name: 'ask_user', arguments: { question: 'Which tea?', options: ['Green', 'Black'] } }] },
    { calls: [{ id: 'r', name: 'read_file', arguments: { path: 'src/menu.ts' } }] },
    {
      calls: [
        {
          id: 'e',
          name: 'edit_file',
          arguments: { path: 'src/menu.ts', edits: [{ old_text: first, new_text: `// Black tea.\n${first}` }] },
        },
      ],
    },
    { text: ['The menu is ', 'done.'] },
  );
  await press('Control+Alt+e');
  await expect.poll(focused).toBe('Message to Earshot');
  await workbench.page.keyboard.type('Make tea.');
  await press('Enter');

  await workbench.card('Question: Which tea?').waitFor();
  if ((await tabTo('Green', 'Black')) === 'Green') await press('ArrowDown');
  else await press('Space');
  await tabTo('Answer');
  await press('Enter');

  const card = workbench.card('Edit src/menu.ts');
  await card.getByText('Needs approval').waitFor();
  // A key pressed right after the card appears approves nothing.
  const isApproved = async () => {
    if ((await card.getByText('Needs approval').count()) === 0) return true;
    if ((await tabBack(['Approve'])) !== undefined) await press('Enter');
    return false;
  };
  await expect.poll(isApproved, { interval: 1000 }).toBe(true);
  await workbench.settled();
  await workbench.transcript().getByText('The menu is done.').waitFor();
  expect(await file()).toBe(`// Black tea.\n${before}`);
  const answers = server.requests.map(({ body }) => body).join('\n');
  expect(answers).toContain('Black');

  await tabTo('Changed files 1');
  await press('Enter');
  await tabTo('Review');
  await press('Enter');
  await workbench.page.locator('.monaco-diff-editor .line-insert').first().waitFor();
  await press('Control+Alt+e');
  await expect.poll(focused).toBe('Message to Earshot');
  await tabTo('Undo');
  await press('Enter');
  await expect.poll(file).toBe(before);
});

test('a change is opened as a diff, and a code block is applied after its preview', async () => {
  await workbench.reset();
  await workbench.command('View: Close All Editors');
  const path = join(workbench.folder, 'src/menu.ts');
  const before = await readFile(path, 'utf8');
  const code = 'export const menu = { oolong: 280 };\n';
  server.script(
    { calls: [{ id: 'w', name: 'write_file', arguments: { path: 'src/tip.ts', content: 'export const tip = 1;\n' } }] },
    { text: ['Look at src/menu.ts:2, then apply:\n\n```ts\n', code, '```\n'] },
  );
  await workbench.say('Write the menu.');
  await workbench.card('Write src/tip.ts').getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();
  const card = workbench.card('Write src/tip.ts');
  await card.locator('.tool-head').click({ position: { x: 8, y: 8 } });
  await card.getByRole('button', { name: 'Open diff: src/tip.ts' }).click();
  await workbench.page.locator('.monaco-diff-editor .line-insert').first().waitFor();

  const { page } = workbench;
  await workbench.transcript().getByRole('button', { name: 'src/menu.ts:2' }).click();
  await page.locator('.tab.active', { hasText: 'menu.ts' }).waitFor();
  await workbench.transcript().getByRole('button', { name: 'Apply to the open file, with preview' }).click();
  await page.locator('.monaco-diff-editor .line-insert').first().waitFor();
  expect(await readFile(path, 'utf8')).toBe(before);
  await page.locator('.editor-actions').getByRole('button', { name: 'Apply Code from Chat' }).click();
  await page.locator('.tab.active.dirty', { hasText: 'menu.ts' }).waitFor();
  await workbench.command('File: Save All');
  // Only the declaration of that name is replaced.
  const applied = before.replace(/export const menu = \{[^}]*\} as const;\n/, code);
  await expect.poll(() => readFile(path, 'utf8')).toBe(applied);
  expect(before).not.toBe(applied);
});

test('Ctrl+F in the chat opens only its find bar, and Ctrl+Alt+X begins a new chat', async () => {
  server.restart();
  server.script({ text: ['Oolong is a tea.'] });
  await workbench.openChat();
  await workbench.reset();
  await workbench.say('Name a tea.');
  await workbench.settled();
  const { page } = workbench;
  await workbench.startCommand('Go to File...');
  await page.keyboard.type('menu.ts');
  await page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'menu.ts' }).first().click();
  const editor = page.locator('.monaco-editor .view-lines').first();
  await editor.waitFor();
  await workbench.composer().click();
  const find = workbench.chat().getByRole('searchbox', { name: 'Find in conversation' });
  await press('Control+f');
  await find.waitFor();
  await expect.poll(focused).toBe('Find in conversation');
  await page.keyboard.type('oolong');
  await workbench.chat().getByText('1 of 1').waitFor();
  // By the time this command has run, the key would have opened the other one.
  await workbench.command('Earshot: Open Chat');
  expect(await page.locator('.find-widget.visible').count()).toBe(0);
  await expect.poll(focused).toBe('Message to Earshot');
  await press('Control+f');
  // Otherwise Escape may overtake the key, which opens the bar again.
  await expect.poll(focused).toBe('Find in conversation');
  await find.press('Escape');
  await find.waitFor({ state: 'detached' });
  await workbench.transcript().getByText('Oolong is a tea.').click();
  await press('Control+f');
  await expect.poll(focused).toBe('Find in conversation');
  await press('Escape');
  await workbench.composer().click();
  await press('Control+Alt+x');
  await workbench.chat().locator('.welcome').waitFor();
  // In an editor the key still finds in the file.
  await editor.click();
  await press('Control+f');
  await page.locator('.find-widget.visible').waitFor();
  await press('Escape');
});
