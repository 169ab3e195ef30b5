// The first minutes of a new user in several kinds of folder: every suggestion of the empty chat is clicked, and none fails.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useWorkbench } from '../../support/workbench.ts';

const workbench = useWorkbench();
const PATIENCE = 180_000;

const FOLDERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  empty: {},
  python: { 'pyproject.toml': '[project]\nname = "shop"\n', 'shop/tea.py': 'LEAF = 1\n', 'tests/test_tea.py': '' },
  rust: { 'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\n', 'src/main.rs': 'fn main() {}\n' },
  node: {
    'package.json': JSON.stringify({ name: 'shop', scripts: { test: 'node --version' } }),
    'readme.md': '# Shop\n',
    'index.js': 'export const leaf = 1;\n',
  },
  texts: { 'letter.txt': 'Dear reader\n' },
};

/** The suggestions that the window's empty chat shows. */
async function suggestions(page: Page): Promise<readonly string[]> {
  await workbench.openChat(page);
  const buttons = workbench.chat(page).locator('.suggestion');
  await buttons.first().waitFor();
  return buttons.allInnerTexts();
}

/** Clicks a suggestion, approves what it asks for, and answers its question. */
async function follow(page: Page, text: string): Promise<void> {
  const chat = workbench.chat(page);
  await chat.getByRole('button', { name: text, exact: true }).click();
  const end = chat.getByRole('button', { name: 'Send', exact: true });
  const approve = chat.getByRole('button', { name: 'Approve', exact: true });
  const skip = chat.getByRole('radio', { name: 'Skip this' });
  await chat.locator('.welcome').waitFor({ state: 'hidden' });
  const next = end.or(approve).or(skip).first();
  for (;;) {
    await next.waitFor({ timeout: PATIENCE });
    if (await skip.isVisible()) {
      await skip.check();
      await chat.getByRole('button', { name: 'Answer', exact: true }).click();
      await skip.waitFor({ state: 'hidden' });
    } else if (await approve.first().isVisible()) {
      // This very button: the next call has another.
      const button = await approve.first().elementHandle();
      await button.click();
      await button.waitForElementState('hidden');
    } else if (await end.isVisible()) return;
  }
}

test('without a folder the suggestion is answered', { timeout: PATIENCE }, async () => {
  const page = await workbench.newWindow({ noFolder: true });
  expect(await suggestions(page)).toEqual(['What can you do?']);
  await workbench.screenshot('first-minutes-no-folder', page);
  await follow(page, 'What can you do?');
  await workbench.transcript(page).getByText('I am the Guide').waitFor();
  await page.close();
});

test.each(Object.keys(FOLDERS))('no suggestion fails: %s', { timeout: 4 * PATIENCE }, async (name) => {
  const folder = join(dirname(workbench.folder), name);
  await mkdir(folder);
  for (const [path, text] of Object.entries(FOLDERS[name] ?? {})) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const page = await workbench.newWindow({ folder });
  expect((await suggestions(page)).length).toBeGreaterThan(2);
  await workbench.screenshot(`first-minutes-${name}`, page);
  const followed = new Set<string>();
  for (;;) {
    // They change with the folder: after the tour it is no longer empty.
    const text = (await suggestions(page)).find((one) => !followed.has(one));
    if (text === undefined) break;
    followed.add(text);
    await follow(page, text);
    const transcript = await workbench.transcript(page).innerText();
    expect.soft(transcript, text).not.toMatch(/\bFailed\b|I cannot read|beyond my rules|I would need the tool/);
    // Also a card that is folded, and a failure of the turn.
    const wrong = workbench.transcript(page).locator('.tool.state-failed, .notice.level-error');
    expect.soft(await wrong.allInnerTexts(), text).toEqual([]);
    await workbench.command('Earshot: New Chat', page);
    await workbench.chat(page).locator('.welcome').waitFor();
  }
  await page.close();
});
