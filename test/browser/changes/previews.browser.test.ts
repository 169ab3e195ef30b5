// Previews of approvals in the page: removed and added lines, refreshed while open, with the final counts.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Frame } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findViolations } from '../../support/accessibility.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { firstUnlessFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'scripted-model' },
}));

beforeEach(async () => {
  server.restart();
  await workbench.openChat();
  await workbench.reset();
});

const THEMES = {
  'Default Light Modern': 'vscode-light',
  'Default High Contrast': 'vscode-high-contrast',
  'Default Dark Modern': 'vscode-dark',
};
const done: ScriptedAnswer = { text: ['That is done.'] };
let number = 0;
const call = (name: string, args: Record<string, unknown>) => ({ id: `call${++number}`, name, arguments: args });
const text = (lines: number) => Array.from({ length: lines }, (_, index) => `line ${index + 1}\n`).join('');
const file = (name: string) => join(workbench.folder, name);
const counts = (title: string) => workbench.card(title).locator('.diff-head .diff-counts').innerText();

test('overwriting 20 lines with 2 shows −20 +2 before and after the call runs', async () => {
  await writeFile(file('twenty.txt'), text(20));
  const write = call('write_file', { path: 'twenty.txt', content: 'one\ntwo\n' });
  server.script({ calls: [call('read_file', { path: 'twenty.txt' })] }, { calls: [write] }, done);
  await workbench.say('Go on.');
  const card = workbench.card('Write twenty.txt');
  await card.getByRole('button', { name: 'Approve' }).waitFor();
  expect(await counts('Write twenty.txt')).toMatch(/\+2\s*−20/);
  expect(await card.locator('.approval .diff-removed').count()).toBe(20);
  await workbench.screenshot('previews-write');
  await card.getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();
  await expect.poll(() => card.locator('.tool-head .diff-counts').innerText()).toMatch(/\+2\s*−20/);
});

test('a file that changes while the approval is open is shown in its new state', async () => {
  await writeFile(file('moving.txt'), text(9));
  const edit = call('edit_file', { path: 'moving.txt', edits: [{ old_text: 'line 5', new_text: 'five' }] });
  server.script({ calls: [call('read_file', { path: 'moving.txt' })] }, { calls: [edit] }, done);
  await workbench.say('Go on.');
  const card = workbench.card('Edit moving.txt');
  const numbers = () => card.locator('.approval .diff-removed .diff-number').first().innerText();
  await expect.poll(numbers).toBe('5');
  await writeFile(file('moving.txt'), `new\nnew\n${text(9)}`);
  await expect.poll(numbers).toBe('7');
  await card.getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();
  expect(await readFile(file('moving.txt'), 'utf8')).toBe(`new\nnew\n${text(9).replace('line 5', 'five')}`);
});

test.each(firstUnlessFull(Object.entries(THEMES)))(
  'previews of a deletion, an edit and a binary file in %s',
  async (theme, bodyClass) => {
    await workbench.setTheme(theme);
    await writeFile(file('old.txt'), text(5));
    await writeFile(file('picture.bin'), Buffer.alloc(5000));
    await writeFile(file('edited.txt'), text(9));
    server.script(
      {
        calls: [
          call('delete_file', { path: 'old.txt' }),
          call('delete_file', { path: 'picture.bin' }),
          call('edit_file', { path: 'edited.txt', edits: [{ old_text: 'line 5', new_text: 'five\n5' }] }),
        ],
      },
      done,
    );
    await workbench.say('Go on.');
    await workbench.card('Delete old.txt').getByRole('button', { name: 'Approve' }).waitFor();
    await workbench.card('Edit edited.txt').getByRole('button', { name: 'Approve' }).waitFor();
    expect(await counts('Delete old.txt')).toMatch(/\+0\s*−5/);
    await workbench.card('Delete picture.bin').getByText('Not a text file. 4.9 KB.').waitFor();
    const frame = await chatFrame();
    await expect.poll(() => frame.evaluate(() => document.body.className)).toContain(bodyClass);
    await workbench.card('Delete old.txt').scrollIntoViewIfNeeded();
    await workbench.screenshot(`previews-${theme}-top`);
    await workbench.card('Edit edited.txt').getByRole('button', { name: 'Approve' }).scrollIntoViewIfNeeded();
    await workbench.screenshot(`previews-${theme}`);
    expect(await findViolations(frame)).toEqual([]);
    await workbench.chat().getByRole('button', { name: 'Stop', exact: true }).click();
    await workbench.settled();
  },
);

async function chatFrame(): Promise<Frame> {
  const handle = await workbench.page.frameLocator('iframe.webview').locator('#active-frame').elementHandle();
  const frame = await handle.contentFrame();
  if (!frame) throw new Error('the chat has no frame');
  return frame;
}
