// An untrusted workspace: Earshot reads files, but runs nothing until the user trusts it. Settings of the repository lift
// no limit in it, and once it is trusted choose no program unasked.
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useWorkbench } from '../../support/workbench.ts';

const workbench = useWorkbench({ untrusted: true, settings: { 'earshot.limits.tokens': 1000 } });
const ignored = (...names: string[]) =>
  workbench.chat().getByText(`Earshot ignores these values of the workspace settings: ${names.join(', ')}.`);

async function repositorySettings(settings: Readonly<Record<string, unknown>>): Promise<void> {
  await mkdir(join(workbench.folder, '.vscode'), { recursive: true });
  await writeFile(join(workbench.folder, '.vscode/settings.json'), JSON.stringify(settings));
}

test('the chat of an untrusted workspace names the limit that the repository would lift', async () => {
  await workbench.openChat();
  await repositorySettings({ 'earshot.limits.tokens': 0 });
  await ignored('earshot.limits.tokens').waitFor();
  await workbench.screenshot('untrusted-settings');
  await repositorySettings({ 'earshot.limits.tokens': 500 });
  await expect.poll(() => ignored('earshot.limits.tokens').count()).toBe(0);
});

test('no suggestion of an untrusted workspace fails', async () => {
  await workbench.openChat();
  await workbench.reset();
  const buttons = workbench.chat().locator('.suggestion');
  await buttons.first().waitFor();
  const texts = await buttons.allInnerTexts();
  expect(texts.length).toBeGreaterThan(0);
  await workbench.screenshot('first-minutes-untrusted');
  for (const text of texts) {
    await workbench.reset();
    await workbench.chat().getByRole('button', { name: text, exact: true }).click();
    await workbench.settled();
    const transcript = await workbench.transcript().innerText();
    expect
      .soft(transcript, text)
      .not.toMatch(/\bFailed\b|not trusted|I cannot read|beyond my rules|I would need the tool/);
    const wrong = workbench.transcript().locator('.tool.state-failed, .notice.level-error');
    expect.soft(await wrong.allInnerTexts(), text).toEqual([]);
  }
  await workbench.reset();
});

test('Earshot reads files, refuses to run commands with a reason, and runs them once the user trusts the folder', async () => {
  const { page } = workbench;
  await workbench.openChat();
  const chat = workbench.chat();
  const notTrusted = chat.locator('.obstacle').getByText('This workspace is not trusted', { exact: false });
  await notTrusted.waitFor();
  await workbench.say('read README.md then run echo unsafe');
  await workbench.settled();
  await workbench.card('Read README.md').getByText('Done', { exact: true }).waitFor();
  await workbench.card('Run echo unsafe').getByText('Failed', { exact: true }).waitFor();
  expect(await workbench.transcript().innerText()).toContain('the workspace is not trusted');
  expect(await chat.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  await workbench.screenshot('untrusted-refused');

  await chat.getByRole('button', { name: 'Manage trust' }).click();
  await page.getByRole('button', { name: 'Trust', exact: true }).first().click();
  await expect.poll(() => notTrusted.count()).toBe(0);
});

test('a task runs with the shell of the repository only after a dialog that shows it was approved', async () => {
  const { page, folder } = workbench;
  // The editor in which the folder was trusted covers the chat.
  await workbench.command('View: Close All Editors');
  await page.locator('.monaco-modal-editor-block').waitFor({ state: 'hidden' });
  const [shell, trace] = [join(folder, 'node_modules', 'own-shell'), join(folder, 'node_modules', 'trace')];
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  await writeFile(shell, `#!/bin/sh\necho ran >> '${trace}'\nexec /bin/sh "$@"\n`);
  await chmod(shell, 0o755);
  await repositorySettings({ 'terminal.integrated.automationProfile.linux': { path: shell } });
  await ignored('terminal.integrated.automationProfile.linux').waitFor();
  const runTask = async () => {
    await workbench.reset();
    await workbench.say('run the task check');
    await workbench.chat().getByRole('button', { name: 'Approve' }).first().click();
    await workbench.settled();
  };
  await runTask();
  expect(await workbench.transcript().innerText()).toContain('was not run: the workspace settings choose');
  expect(await readFile(trace, 'utf8').catch(() => '')).toBe('');
  // It waits in the chat, not in a toast.
  const waiting = workbench.chat().getByRole('status').filter({ hasText: 'Earshot runs no tasks' });
  await workbench.command('Notifications: Clear All Notifications');
  await workbench.screenshot('untrusted-terminal-waiting');
  await waiting.getByRole('button', { name: 'Review…' }).click();
  const dialog = page.locator('.monaco-dialog-box');
  await dialog.getByText(shell, { exact: false }).waitFor();
  await workbench.screenshot('untrusted-terminal');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await waiting.waitFor({ state: 'detached' });
  await runTask();
  expect(await readFile(trace, 'utf8')).toBe('ran\n');
});
