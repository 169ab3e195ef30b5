// The first minutes of a newcomer who only clicks: the chat is there, and a notification is delivered before their eyes.
import { expect, test } from 'vitest';
import { useWorkbench } from '../../support/workbench.ts';

// As on a desktop: the test bed hides the secondary side bar otherwise.
const workbench = useWorkbench({
  settings: { 'workbench.secondarySideBar.defaultVisibility': null },
});

test('clicks alone lead from the open chat to a delivered chip, and the Explorer stays beside it', async () => {
  const started = Date.now();
  await workbench.chat().locator('.welcome').waitFor();
  await workbench.screenshot('first-open');
  await workbench.chat().getByRole('button', { name: 'Take the tour' }).click();
  const question = workbench.card(/^Question: Open README\.md/);
  await question.getByText('Change it for me').click();
  await question.getByRole('button', { name: 'Answer', exact: true }).click();
  const command = workbench.card(/^Run echo/);
  await command.getByRole('button', { name: 'Approve' }).click();
  await command.getByRole('button', { name: /File changed · README\.md/ }).waitFor();
  expect(Date.now() - started).toBeLessThan(90_000);
  await workbench.settled();
  await workbench.transcript().getByText('README.md was changed, and I was notified').waitFor();
  await workbench.transcript().getByText('That was the tour.').waitFor();
  expect(await workbench.page.locator('.explorer-folders-view').isVisible()).toBe(true);
  await workbench.screenshot('first-chip');
});
