// Edits and searches in the browser: the diff before and after an edit, the to-do list, a running search.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Frame } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { firstUnlessFull, isFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'scripted-model' },
}));

const THEMES = {
  'Default Dark Modern': 'vscode-dark',
  'Default Light Modern': 'vscode-light',
  'Default High Contrast': 'vscode-high-contrast',
};

const todo = (first: string, second: string) => ({
  id: `todo-${first}`,
  name: 'todo',
  arguments: {
    items: [
      { text: 'Read the menu', state: 'done' },
      { text: 'Raise the price of sencha', state: first },
      { text: 'Run the tests', state: second },
    ],
  },
});

test('an edit is shown before and after it runs, with the to-do list and the found problems', async () => {
  server.script(
    { calls: [todo('doing', 'open'), { id: 'read', name: 'read_file', arguments: { path: 'src/menu.ts' } }] },
    {
      text: ['I raise the price.'],
      calls: [
        {
          id: 'edit',
          name: 'edit_file',
          arguments: {
            path: 'src/menu.ts',
            edits: [{ old_text: '  sencha: 420,', new_text: '  sencha: 450,\n  matcha: 520,' }],
          },
        },
      ],
    },
    { calls: [{ id: 'find', name: 'search', arguments: { query: 'menu', include: ['*.ts'] } }] },
    { text: ['Sencha costs 4.50 € now, and there is matcha.'] },
  );
  await workbench.openChat();
  await workbench.say('Make tea dearer.');
  const edit = workbench.card('Edit src/menu.ts');
  await edit.getByRole('button', { name: 'Approve' }).waitFor();
  // Before: the removed and added lines, as the model wrote them.
  expect(await lineTexts(edit, '.diff-removed')).toEqual(['  sencha: 420,']);
  expect(await lineTexts(edit, '.diff-added')).toEqual(['  sencha: 450,', '  matcha: 520,']);
  await workbench.screenshot('knowledge-approval');
  await edit.getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();

  // After: the actual changes, with line numbers and counts, reachable with the keyboard.
  const shown = edit.getByRole('group', { name: 'Changes in src/menu.ts: 2 added, 1 removed' });
  // The card is folded; a click next to the path opens it.
  await shown.waitFor({ state: 'hidden' });
  await edit.locator('.tool-head').click({ position: { x: 8, y: 8 } });
  await shown.waitFor();
  await expect.poll(() => lineTexts(edit, '.diff-removed')).toEqual(['  sencha: 420,']);
  expect(await edit.locator('.diff-removed .diff-number').first().textContent()).toBe('4');
  expect(await edit.locator('.tool-head .diff-counts').innerText()).toMatch(/\+2\s*−1/);
  await shown.focus();
  expect(await shown.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await readFile(join(workbench.folder, 'src/menu.ts'), 'utf8')).toContain('matcha: 520');

  const list = await workbench.openList('To-do');
  expect(await list.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringContaining('Read the menu'),
    expect.stringContaining('Raise the price of sencha'),
    expect.stringContaining('Run the tests'),
  ]);
  await list.getByText('1 of 3 done').waitFor();
  const search = workbench.card('Search for menu');
  await search.getByRole('button', { name: /Search for menu/ }).click();
  await search.getByText('src/order.ts').waitFor();
});

test('the path on the card opens the file at the change', async () => {
  await workbench.card('Edit src/menu.ts').locator('.diff-path').click();
  await workbench.page.getByRole('tab', { name: /menu\.ts/ }).waitFor();
});

test.runIf(isFull)('the to-do list and the diff are shown again after a reload', async () => {
  await workbench.reload();
  await workbench.openChat();
  await (await workbench.openList('To-do')).getByText('1 of 3 done').waitFor();
  await workbench
    .card('Edit src/menu.ts')
    .locator('.tool-head')
    .click({ position: { x: 8, y: 8 } });
  await expect
    .poll(() => lineTexts(workbench.card('Edit src/menu.ts'), '.diff-added'))
    .toEqual(['  sencha: 450,', '  matcha: 520,']);
});

test.each(firstUnlessFull(Object.entries(THEMES)))('the edit is accessible in %s', async (theme, bodyClass) => {
  await workbench.setTheme(theme);
  const frame = await chatFrame();
  await expect.poll(() => frame.evaluate(() => document.body.className)).toContain(bodyClass);
  await workbench.card('Edit src/menu.ts').scrollIntoViewIfNeeded();
  await workbench.screenshot(`knowledge-${theme}`);
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await frame.evaluate(source);
  const found = await frame.evaluate(async () => {
    // The page is transparent and shows the side bar behind it; a checker inside the frame would assume white.
    document.body.style.backgroundColor = 'var(--vscode-sideBar-background)';
    const { axe } = window as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run({ resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  });
  expect(found).toEqual([]);
});

interface Violation {
  id: string;
  nodes: { html: string }[];
}

function lineTexts(card: ReturnType<typeof workbench.card>, kind: string): Promise<string[]> {
  return card.locator(`${kind} code`).allTextContents();
}

async function chatFrame(): Promise<Frame> {
  const handle = await workbench.page.frameLocator('iframe.webview').locator('#active-frame').elementHandle();
  const frame = await handle.contentFrame();
  if (!frame) throw new Error('the chat has no frame');
  return frame;
}
