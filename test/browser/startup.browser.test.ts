// The start of a window: nothing is loaded before it is used, and an earlier conversation is recovered.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isFull } from '../support/runs.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench({ first: true });

/** Why each window of this server loaded more than its shell, oldest first. */
async function loads(): Promise<string[]> {
  const lines = await workbench.logLines();
  return lines.flatMap((line) => /loading, for (.+)$/.exec(line)?.[1] ?? []);
}

test('a new window loads nothing until it is used, and the first command works', async () => {
  // The status bar is there by now.
  await workbench.command('Earshot: Open Chat');
  await workbench.chat().locator('.welcome').waitFor();
  expect(await loads()).toEqual(['a command']);
});

test('a window with a conversation recovers it while the chat is hidden and counts new notifications', async () => {
  await workbench.openChat();
  await workbench.say('read src/menu.ts');
  await workbench.settled();
  await workbench.command('View: Toggle Secondary Side Bar Visibility');
  await workbench.reload();
  await expect.poll(loads, { timeout: 30_000 }).toEqual(['a command', 'conversations to recover']);
  await writeFile(join(workbench.folder, 'src/menu.ts'), '// other bytes\n');
  await expect.poll(() => workbench.statusBar().textContent(), { timeout: 30_000 }).toMatch(/Earshot 1/);
});

test('a click on the status bar opens the chat with the conversation', async () => {
  await workbench.statusBar().click();
  await workbench.transcript().locator('.request').filter({ hasText: 'src/menu.ts' }).waitFor();
});

test.runIf(isFull)('a window whose chat is visible at startup renders it', async () => {
  const sideBar = workbench.page.locator('.part.auxiliarybar');
  // VS Code stores its layout a while after a change; a window that was reloaded before has the earlier one.
  const reloaded = async () => {
    await workbench.reload();
    const isVisible = await sideBar.isVisible();
    if (!isVisible) await workbench.openChat();
    return isVisible;
  };
  await expect.poll(reloaded, { interval: 3000 }).toBe(true);
  await workbench.transcript().locator('.request').filter({ hasText: 'src/menu.ts' }).waitFor();
});
