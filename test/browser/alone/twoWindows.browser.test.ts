// Two windows on one conversation: one writes, the other follows live; *Continue here*; the owner is killed.
import { type Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench();

const obstacle = (page: Page) =>
  workbench.chat(page).getByText(/This conversation is open in another window|Waiting for another window/);
const continueHere = (page: Page) => workbench.chat(page).getByRole('button', { name: 'Continue here' });
const requests = (page: Page) => workbench.transcript(page).locator('.request');

/** The process that owns the conversation, from its `owner.json`. */
async function ownerPid(): Promise<number> {
  const [owner, ...others] = (await workbench.owners()).filter(({ released }) => !released);
  expect(others).toEqual([]);
  return owner?.pid ?? Number.NaN;
}

test('a second window follows live and takes over, the first then follows; a killed owner is replaced', async () => {
  const one = workbench.page;
  await workbench.openChat(one);
  await workbench.say('list the files', one);
  await workbench.settled(one);
  const first = await ownerPid();

  await workbench.forgetOtherWindows();
  const two = await workbench.newWindow();
  await workbench.openChat(two);
  await obstacle(two).waitFor();
  await requests(two).filter({ hasText: 'list the files' }).waitFor();
  await workbench.screenshot('two-windows-follower', two);

  // A turn in the first window is shown in the second.
  await workbench.say('read src/menu.ts', one);
  await workbench.settled(one);
  await requests(two).filter({ hasText: 'read src/menu.ts' }).waitFor();

  await continueHere(two).click();
  await obstacle(two).waitFor({ state: 'detached' });
  await obstacle(one).waitFor();
  const second = await ownerPid();
  expect(second).not.toBe(first);
  await workbench.say('list src', two);
  await workbench.settled(two);
  await requests(one).filter({ hasText: 'list src' }).waitFor();
  expect(await requests(one).count()).toBe(3);

  // Killed without a chance to release anything: the kernel frees its lock.
  process.kill(second, 'SIGKILL');
  await continueHere(one).click();
  await obstacle(one).waitFor({ state: 'detached' });
  expect(await ownerPid()).toBe(first);
  await workbench.say('read README.md', one);
  await workbench.settled(one);
  expect(await requests(one).allInnerTexts()).toHaveLength(4);
  await two.close();
});
