// An untrusted workspace: Earshot reads files, but runs nothing until the user trusts it.
import { expect, test } from 'vitest';
import { useWorkbench } from '../../support/workbench.ts';

const workbench = useWorkbench({ untrusted: true });

test('Earshot reads files, refuses to run commands with a reason, and runs them once the user trusts the folder', async () => {
  const { page } = workbench;
  await workbench.openChat();
  const chat = workbench.chat();
  await chat.getByText('This workspace is not trusted', { exact: false }).waitFor();
  await workbench.say('read README.md then run echo unsafe');
  await workbench.settled();
  await workbench.card('Read README.md').getByText('Done', { exact: true }).waitFor();
  await workbench.card('Run echo unsafe').getByText('Failed', { exact: true }).waitFor();
  expect(await workbench.transcript().innerText()).toContain('the workspace is not trusted');
  expect(await chat.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  await workbench.screenshot('untrusted-refused');

  await chat.getByRole('button', { name: 'Manage trust' }).click();
  await page.getByRole('button', { name: 'Trust', exact: true }).first().click();
  await expect.poll(() => chat.getByText('This workspace is not trusted', { exact: false }).count()).toBe(0);
});
