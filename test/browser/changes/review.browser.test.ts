// Reviewing the agent's changes: the bar, diff editors, hunks, restore and revert, in every theme.
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Frame } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { firstUnlessFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: {
    'earshot.baseUrl': server.baseUrl,
    'earshot.model': 'scripted-model',
    'earshot.approvals.mode': 'all',
  },
}));
const THEMES = {
  'Default Dark Modern': 'vscode-dark',
  'Default Light Modern': 'vscode-light',
  'Default High Contrast': 'vscode-high-contrast',
  'Default High Contrast Light': 'vscode-high-contrast-light',
};

const bar = () => workbench.chat().getByRole('region', { name: 'Changed files' });
const button = (name: string) => bar().getByRole('button', { name, exact: true });
/** The button that shows the changes of the file. */
const name = (file: string) => bar().locator('.changes-file > .changes-row .changes-name', { hasText: file });
const text = (path: string) => readFile(join(workbench.folder, path), 'utf8').catch(() => undefined);
const RESTORE = 'Restore files or the conversation to before this message…';
let calls = 0;

async function run(message: string, command: string): Promise<void> {
  server.script(
    { calls: [{ id: `c${calls++}`, name: 'run_command', arguments: { command } }] },
    { text: ['Done: the files are as you asked.'] },
  );
  await workbench.say(message);
  await workbench.settled();
}

test('the bar lists the files a command changed, with counts, and stays in the next turn', async () => {
  await workbench.openChat();
  const menu = "sed -i '1i export const house = 1;' src/menu.ts; echo 'export const end = 2;' >> src/menu.ts";
  await run('Tidy up the menu.', `${menu}; echo 'export const tip = 0.1;' > src/tip.ts; rm README.md`);
  await workbench.openList('Changed files');
  await bar().getByText('3 files changed').waitFor();
  await expect
    .poll(() => bar().locator('.changes-base').allInnerTexts())
    .toEqual(expect.arrayContaining(['menu.ts', 'tip.ts', 'README.md']));
  await button('2 changes in src/menu.ts').click();
  await expect
    .poll(() => bar().locator('.changes-hunks code').allInnerTexts())
    .toEqual(['export const house = 1;', 'export const end = 2;']);
});

test.each(firstUnlessFull(Object.entries(THEMES)))('bar and diff are accessible in %s', async (theme, bodyClass) => {
  await workbench.setTheme(theme);
  await name('menu.ts').click();
  await workbench.page.locator('.tab', { hasText: 'menu.ts (changed by Earshot)' }).waitFor();
  const frame = await chatFrame();
  await expect.poll(() => frame.evaluate(() => document.body.className)).toContain(bodyClass);
  await workbench.page.locator('.monaco-diff-editor .line-insert').first().waitFor();
  await workbench.screenshot(`review-${theme}`);
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await frame.evaluate(source);
  const found = await frame.evaluate(async () => {
    // The page is transparent and shows the side bar behind it; a checker inside the frame would assume white.
    document.body.style.backgroundColor = 'var(--vscode-sideBar-background)';
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
  });
  expect(found).toEqual([]);
});

test('Review All opens all changed files in one editor', async () => {
  await workbench.setTheme('Default Dark Modern');
  await button('Review').click();
  await workbench.page.locator('.multiDiffEntry').first().waitFor();
  await workbench.screenshot('review-all');
});

test('from the keyboard one hunk is undone and one file kept, and the focus stays in the bar', async () => {
  await button('Undo changes in src/menu.ts, line 1').press('Enter');
  await expect.poll(() => text('src/menu.ts')).not.toContain('house');
  expect(await text('src/menu.ts')).toContain('export const end = 2;');
  await button('Keep changes in src/tip.ts').press('Enter');
  await bar().getByText('2 files changed').waitFor();
  const frame = await chatFrame();
  await expect.poll(() => frame.evaluate(() => document.activeElement?.className)).toBe('changes-toggle');
  await workbench.transcript().getByText('You undid changes in src/menu.ts.').waitFor();
});

test.each(firstUnlessFull(['Default Dark Modern', 'Default Light Modern', 'Default High Contrast']))(
  'restoring first shows what it will do, in %s',
  async (theme) => {
    await workbench.setTheme(theme);
    if (theme === 'Default Dark Modern') {
      await run('Now the order.', "sed -i '1i export const orders = 3;' src/order.ts; echo agent > src/receipt.ts");
      await writeFile(join(workbench.folder, 'src/receipt.ts'), '// Mine.\n');
      const order = join(workbench.folder, 'src/order.ts');
      await writeFile(order, `${await readFile(order, 'utf8')}// Mine too.\n`);
      await writeFile(join(workbench.folder, 'package.json'), '{}\n');
    }
    const request = workbench.transcript().locator('.request', { hasText: 'Tidy up the menu.' });
    await request.hover();
    await request.getByRole('button', { name: RESTORE }).click();
    const picker = workbench.page.locator('.quick-input-widget');
    await picker.getByText('Restore to before “Tidy up the menu.”').waitFor();
    const rows = picker.locator('.monaco-list-row');
    await expect
      .poll(async () => (await rows.allInnerTexts()).join('\n'))
      .toContain('conflict: you changed the same lines');
    await workbench.screenshot(`restore-${theme}`);
    const shown = (await rows.allInnerTexts()).join('\n');
    for (const part of [
      'README.md',
      'is created again',
      'src/order.ts',
      'yours are kept',
      'src/tip.ts',
      'is deleted',
      'package.json',
    ]) {
      expect(shown).toContain(part);
    }
    await workbench.page.keyboard.press('Escape');
    await picker.waitFor({ state: 'hidden' });
  },
);

test('restoring keeps the user’s bytes, and one click reverts it', async () => {
  const request = workbench.transcript().locator('.request', { hasText: 'Tidy up the menu.' });
  await request.hover();
  await request.getByRole('button', { name: RESTORE }).click();
  const picker = workbench.page.locator('.quick-input-widget');
  await picker.getByText('Restore to before “Tidy up the menu.”').waitFor();
  await workbench.page.keyboard.press('Enter');
  await workbench
    .transcript()
    .getByText(/You restored/)
    .waitFor();
  expect(await text('README.md')).toContain('#');
  expect(await text('src/tip.ts')).toBeUndefined();
  expect(await text('src/order.ts')).not.toContain('orders = 3');
  expect(await text('src/order.ts')).toContain('// Mine too.');
  expect(await text('src/receipt.ts')).toBe('// Mine.\n');
  expect(await text('package.json')).toBe('{}\n');
  await workbench.screenshot('restored');
  await workbench.transcript().getByRole('button', { name: 'Revert' }).last().click();
  await workbench
    .transcript()
    .getByText(/Reverted\.$/)
    .waitFor();
  await expect.poll(() => text('src/tip.ts')).toBe('export const tip = 0.1;\n');
  expect(await text('src/order.ts')).toContain('orders = 3');
  expect(await text('README.md')).toBeUndefined();
});

test('the editor of all changes is closed when the last one is kept', async () => {
  const reviews = workbench.page.locator('.tab', { hasText: 'Earshot’s changes' });
  await button('Review').click();
  await reviews.first().waitFor();
  await button('Keep').click();
  await expect.poll(() => reviews.count()).toBe(0);
});

test('editors of changes are closed when another conversation is shown, whose changes they would not show', async () => {
  await workbench.reset();
  await run('Brew tea.', 'echo two >> package.json; echo one > pot.txt');
  await workbench.openList('Changed files');
  const tabs = (name: string) => workbench.page.locator('.tab', { hasText: name });
  await name('package.json').click();
  await tabs('(changed by Earshot)').waitFor();
  // Otherwise the next editor would replace it.
  await tabs('(changed by Earshot)').dblclick();
  await button('Review').click();
  await tabs('Earshot’s changes').waitFor();
  await workbench.command('Earshot: New Chat');
  await expect.poll(() => tabs('Earshot’s changes').count()).toBe(0);
  await expect.poll(() => tabs('(changed by Earshot)').count()).toBe(0);
});

test('restoring both: files, and the conversation in a fork that names the original', async () => {
  await workbench.reset();
  await run('Brew the first pot.', 'echo one > first.txt');
  await run('Brew the second pot.', 'echo two > second.txt');
  const request = workbench.transcript().locator('.request', { hasText: 'Brew the second pot.' });
  await request.hover();
  await request.getByRole('button', { name: RESTORE }).click();
  const picker = workbench.page.locator('.quick-input-widget');
  const row = picker.locator('.monaco-list-row').filter({ hasText: 'Go back to before this message' });
  await row.getByText('“A title” stays in the list of conversations.').waitFor();
  await workbench.screenshot('restore-both');
  expect(await row.getByRole('checkbox').isChecked()).toBe(false);
  await row.click();
  await workbench.page.keyboard.press('Enter');
  await expect.poll(() => workbench.composer().inputValue()).toBe('Brew the second pot.');
  await expect.poll(() => text('second.txt')).toBeUndefined();
  expect(await text('first.txt')).toBe('one\n');
  const said = workbench.transcript().locator('.request');
  await expect.poll(() => said.allInnerTexts()).toEqual(['Brew the first pot.']);
  const origin = workbench.chat().locator('.origin-bar');
  await origin.getByText('A title').waitFor();
  await workbench.screenshot('restored-both');
  // The original has everything, and can revert the files.
  await origin.getByRole('button', { name: 'Open original' }).click();
  await said.filter({ hasText: 'Brew the second pot.' }).waitFor();
  await workbench.transcript().getByRole('button', { name: 'Revert' }).last().click();
  await expect.poll(() => text('second.txt')).toBe('two\n');
});

interface Violation {
  id: string;
  nodes: { html: string }[];
}

async function chatFrame(): Promise<Frame> {
  const handle = await workbench.page.frameLocator('iframe.webview').locator('#active-frame').elementHandle();
  const frame = await handle.contentFrame();
  if (!frame) throw new Error('the chat has no frame');
  return frame;
}
