// The agent's lines in a normal editor: marked by author, with a hover that keeps or undoes them.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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
    'editor.hover.delay': 50,
    'files.autoSave': 'afterDelay',
    'files.autoSaveDelay': 50,
  },
}));

const editor = () => workbench.page.locator('.editor-instance .monaco-editor').first();
const before = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n';
const after = 'zero\none\nTWO\nthree\nfive\nsix\nseven\neight\n';

/** The line numbers with a border on one side, by the text of the line. */
async function marked(): Promise<Record<string, readonly string[]>> {
  const lines = await editor().evaluate((element) => {
    const texts = [...element.querySelectorAll<HTMLElement>('.view-line')].map((line) => ({
      top: line.getBoundingClientRect().top,
      text: line.textContent,
    }));
    const marks = [...element.querySelectorAll<HTMLElement>('.view-overlays .cdr')].map((mark) => {
      const { borderLeftWidth, borderTopWidth } = getComputedStyle(mark);
      const side = borderLeftWidth === '2px' ? 'left' : borderTopWidth === '2px' ? 'top' : '';
      return { top: mark.getBoundingClientRect().top, side };
    });
    const near = (top: number) => texts.find((line) => Math.abs(line.top - top) < 4)?.text ?? '';
    return marks.filter(({ side }) => side !== '').map(({ top, side }) => [side, near(top)] as const);
  });
  const of = (wanted: string) => [...new Set(lines.filter(([side]) => side === wanted).map(([, text]) => text))].sort();
  return { left: of('left'), top: of('top') };
}

test('lines of the agent are marked, lines of the user are not; the hover shows the former text and undoes', async () => {
  await workbench.openChat();
  const path = join(workbench.folder, 'tea.txt');
  const text = () => readFile(path, 'utf8');
  await writeFile(path, before);
  server.script(
    { calls: [{ id: 'r', name: 'read_file', arguments: { path: 'tea.txt' } }] },
    { calls: [{ id: 'w', name: 'write_file', arguments: { path: 'tea.txt', content: after } }] },
    { text: ['Done.'] },
  );
  await workbench.say('Change the teas.');
  await workbench.settled();
  await workbench.startCommand('Go to File...');
  await workbench.page.keyboard.type('tea.txt');
  await workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'tea.txt' }).first().click();
  await expect.poll(marked).toEqual({ left: ['TWO', 'zero'], top: ['five'] });
  for (const theme of firstUnlessFull(['Default Dark Modern', 'Default Light Modern', 'Default High Contrast'])) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`inline-${theme}`);
  }
  await workbench.setTheme('Default Dark Modern');

  // A line of the user directly below one of the agent's.
  await editor().getByText('TWO').click();
  await workbench.page.keyboard.press('End');
  await workbench.page.keyboard.type('\nmine');
  expect(await marked()).toMatchObject({ left: ['TWO', 'zero'] });
  await expect.poll(text).toContain('TWO\nmine\n');
  await expect.poll(marked).toEqual({ left: ['TWO', 'zero'], top: ['five'] });

  await editor().getByText('TWO').hover();
  const hover = workbench.page.locator('.monaco-hover:visible');
  await hover.getByText('Changed by Earshot; it was:').waitFor();
  await hover.getByText('two', { exact: true }).waitFor();
  await workbench.screenshot('inline-hover');
  await hover.getByText('Undo', { exact: true }).click();
  await expect.poll(text).toContain('one\ntwo\nmine\nthree\n');
  await expect.poll(marked).toEqual({ left: ['zero'], top: ['five'] });

  // The diff of the review has its own colours, and its editors no marks.
  await editor().getByText('zero').hover();
  await hover.getByText('Added by Earshot').waitFor();
  await hover.getByText('Keep', { exact: true }).click();
  await expect.poll(marked).toEqual({ left: [], top: ['five'] });
  await workbench.command('Earshot: Keep All Changes');
  await expect.poll(marked).toEqual({ left: [], top: [] });
  expect(await text()).toBe('zero\none\ntwo\nmine\nthree\nfive\nsix\nseven\neight\n');
});

test('the editors of a diff have no marks', async () => {
  server.script(
    { calls: [{ id: 'w2', name: 'write_file', arguments: { path: 'cups.txt', content: 'one cup\n' } }] },
    { text: ['Done.'] },
  );
  await workbench.say('Add a cup.');
  await workbench.settled();
  const bar = await workbench.openList('Changed files');
  await bar.locator('.changes-name', { hasText: 'cups.txt' }).click();
  await workbench.page.locator('.monaco-diff-editor .view-line').getByText('one cup').waitFor();
  // The buttons of the editor come with the marks of the same comparison.
  await workbench.page.getByRole('button', { name: 'Keep Changes in This File' }).first().waitFor();
  const names = await workbench.page
    .locator('.monaco-diff-editor .view-overlays .cdr')
    .evaluateAll((marks: HTMLElement[]) => marks.map((mark) => mark.className));
  // VS Code gives the marks of extensions such names.
  expect(names.filter((name) => name.includes('ced-'))).toEqual([]);
});
