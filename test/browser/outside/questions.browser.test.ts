// Questions that came up while nobody looked, in the real workbench: whether CI of a pushed commit may be followed, and
// whether another agent may get notifications. They wait in the chat until they are answered, CI also over a reload, and
// *Never* is written into the settings.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makePushedRepository } from '../../support/forge/pushedRepository.ts';
import { useTool } from '../../support/plugins/outsideAgents.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench({ first: true, last: true });
const bar = () => workbench.chat().getByRole('status').filter({ hasText: 'CI results and reviews' });
const dialog = () => workbench.page.getByRole('dialog').filter({ hasText: 'Follow CI and pull requests' });

let bare = '';
afterAll(() => rm(bare, { recursive: true, force: true }));

async function push(): Promise<void> {
  await workbench.say('run git commit --allow-empty -qm tea && git push -q origin HEAD');
  await workbench.chat().getByRole('button', { name: 'Approve' }).first().click();
  await workbench.settled();
}

test('a push asks in the chat whether CI may be followed; the question survives its toast, Escape and a reload', async () => {
  bare = await mkdtemp(join(tmpdir(), 'earshot-bare-'));
  await makePushedRepository(workbench.folder, join(bare, 'tea.git'));
  await workbench.openChat();
  await push();
  await bar().getByText('of the commits that it pushes to github.com.').waitFor();
  await workbench.command('Notifications: Clear All Notifications');
  expect(await bar().count()).toBe(1);
  await workbench.screenshot('question-ci');
  await bar().getByRole('button', { name: 'Review…' }).click();
  await dialog().getByText('changes nothing there').waitFor();
  await workbench.screenshot('question-ci-dialog');
  await workbench.page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  expect(await bar().count()).toBe(1);
  await workbench.reload();
  await workbench.openChat();
  await bar().waitFor();
});

test('“Never” turns it off in the settings, and the question is gone', async () => {
  await bar().getByRole('button', { name: 'Review…' }).click();
  await dialog().getByRole('button', { name: 'Never' }).click();
  await bar().waitFor({ state: 'detached' });
  await workbench.command('Preferences: Open User Settings (JSON)');
  const text = workbench.page.locator('.editor-instance .view-lines');
  await expect.poll(() => text.innerText()).toMatch(/"earshot\.forge":\s*"off"/);
});

test('an agent that wants notifications waits in the chat, with its row, until the user allows it', async () => {
  await workbench.command('View: Close All Editors');
  const place = { home: join(workbench.dataFolder, 'home'), folder: workbench.folder };
  const waiting = workbench.chat().getByRole('status').filter({ hasText: 'wants notifications of this workspace.' });
  // The hook says that the user is asked.
  await useTool(place, { mayComplain: true });
  await waiting.getByText('The agent “claude-code” wants').waitFor();
  await workbench.command('Notifications: Clear All Notifications');
  await workbench.screenshot('question-agent');
  await waiting.getByRole('button', { name: 'Review…' }).click();
  const question = workbench.page.getByRole('dialog').filter({ hasText: 'Allow the agent “claude-code”' });
  await question.getByText('It calls itself claude-code, version 1.').waitFor();
  await workbench.page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  // The row of the view asks the same question.
  const head = workbench.page.getByRole('button', { name: /Program Plugins/ });
  if ((await head.getAttribute('aria-expanded')) !== 'true') await head.click();
  await workbench.page.getByRole('treeitem', { name: /^claude-code, Wants notifications/ }).click();
  await question.getByRole('button', { name: 'Allow', exact: true }).click();
  await waiting.waitFor({ state: 'detached' });
});
