// The chat in every theme: a screenshot of each, without findings of the accessibility checker.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Frame } from 'playwright-core';
import { expect, test } from 'vitest';
import { findViolations } from '../support/accessibility.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench();
const THEMES = {
  'Default Dark Modern': 'vscode-dark',
  'Default Light Modern': 'vscode-light',
  'Default High Contrast': 'vscode-high-contrast',
  'Default High Contrast Light': 'vscode-high-contrast-light',
};

test('a conversation shows answers, code, a chip and a call that waits for approval', async () => {
  const pipe = join(workbench.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await workbench.openChat();
  await workbench.say('read src/menu.ts then run cat pipe then run npm test');
  await workbench.card('Run cat pipe').getByRole('button', { name: 'Approve' }).click();
  const menu = join(workbench.folder, 'src/menu.ts');
  await writeFile(menu, (await readFile(menu, 'utf8')).replace('\n', '\n// Changed by hand.\n'));
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
  await writeFile(pipe, 'All tea is hot.\n');
  await workbench.card('Run npm test').getByRole('button', { name: 'Approve' }).waitFor();
});

test.each(Object.entries(THEMES))('the chat is accessible in %s', async (theme, bodyClass) => {
  await workbench.setTheme(theme);
  const frame = await chatFrame();
  await expect.poll(() => frame.evaluate(() => document.body.className)).toContain(bodyClass);
  await workbench.screenshot(`themes-${theme}`);
  expect(await findViolations(frame)).toEqual([]);
});

async function chatFrame(): Promise<Frame> {
  const handle = await workbench.page.frameLocator('iframe.webview').locator('#active-frame').elementHandle();
  const frame = await handle.contentFrame();
  if (!frame) throw new Error('the chat has no frame');
  return frame;
}
