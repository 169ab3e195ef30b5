// The start of a new window: nothing is loaded before it is used. For windows with a conversation, see
// `alone/notifications.browser.test.ts`.
import { expect, test } from 'vitest';
import { isFull } from '../support/runs.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench({ first: true });

test('a new window loads nothing until it is used, and the first command works', async () => {
  // The status bar item is already shown; nothing was loaded for it.
  await workbench.command('Earshot: Open Chat');
  await workbench.chat().locator('.welcome').waitFor();
  expect(await workbench.loads()).toEqual(['a command']);
});

test.runIf(isFull)('a window whose chat is visible at startup renders it', async () => {
  await workbench.openChat();
  await workbench.say('read src/menu.ts');
  await workbench.settled();
  const sideBar = workbench.page.locator('.part.auxiliarybar');
  // VS Code stores its layout some time after a change; a window reloaded before that has the earlier layout.
  const reloaded = async () => {
    await workbench.reload();
    const isVisible = await sideBar.isVisible();
    if (!isVisible) await workbench.openChat();
    return isVisible;
  };
  await expect.poll(reloaded, { interval: 3000 }).toBe(true);
  await workbench.transcript().locator('.request').filter({ hasText: 'src/menu.ts' }).waitFor();
});
