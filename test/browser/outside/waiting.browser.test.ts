// A hook, an MCP server and a program plugin of the workspace that wait for approval: shown in the chat until answered, not only in a
// toast, and the chat says that they do not run.
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench({ last: true });
const inFolder = (name: string) => join(workbench.folder, name);
afterAll(() => rm(inFolder('.mcp.json'), { force: true }));

const THEMES = ['Default Dark Modern', 'Default Light Modern', 'Default High Contrast', 'Default High Contrast Light'];
const bar = () => workbench.chat().getByRole('status').filter({ hasText: 'your approval' });
const row = (name: RegExp) => workbench.page.getByRole('treeitem', { name });
const dialog = () => workbench.page.getByRole('dialog').filter({ hasText: 'SHA-256' });

const badge = (count: number) =>
  workbench.page.locator('.part.auxiliarybar .badge-content', { hasText: new RegExp(`^${count}$`) });

async function picture(name: string): Promise<void> {
  for (const theme of THEMES) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`waiting-${name}-${theme}`);
  }
}

test('a hook of the workspace that is not approved is shown in the chat until it is answered', async () => {
  await workbench.openChat();
  await writeFile(inFolder('guard.sh'), '#!/bin/sh\necho The guard says no. >&2\nexit 2\n');
  await chmod(inFolder('guard.sh'), 0o755);
  await mkdir(inFolder('.vscode'), { recursive: true });
  const hooks = { before_tool: [{ matcher: 'run_command', command: ['./guard.sh'] }] };
  await writeFile(inFolder('.vscode/settings.json'), JSON.stringify({ 'earshot.hooks': hooks }));
  await bar().getByText('The hook ./guard.sh at before_tool is not running: it needs your approval.').waitFor();
  await workbench.command('Notifications: Clear All Notifications');
  await workbench.page.locator('.notification-toast').waitFor({ state: 'detached' });
  expect(await bar().count()).toBe(1);
  await badge(1).waitFor();
  await picture('hook');
  await bar().getByRole('button', { name: 'Review…' }).click();
  await dialog().getByText('you are asked again in each window').waitFor();
  await workbench.screenshot('waiting-dialog');
  // A dialog that is closed without an answer leaves the question open.
  await workbench.page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
  expect(await bar().count()).toBe(1);
});

test('a server waits beside it: one bar for both, a row that reacts to a click, and a badge', async () => {
  await writeFile(inFolder('server.js'), 'setInterval(() => undefined, 1000);\n');
  const servers = { mcpServers: { kitchen: { command: 'node', args: ['./server.js'] } } };
  await writeFile(inFolder('.mcp.json'), JSON.stringify(servers));
  await bar().getByText('2 programs are not running').waitFor();
  await bar().getByText('the hook ./guard.sh, the MCP server “kitchen”').waitFor();
  await badge(2).waitFor();
  await picture('both');
  const head = workbench.page.getByRole('button', { name: /MCP Servers/ });
  if ((await head.getAttribute('aria-expanded')) !== 'true') await head.click();
  await row(/kitchen, Waiting for your approval/).click();
  await dialog().getByText('Start the MCP server “kitchen”?').waitFor();
  await dialog().getByRole('button', { name: 'Do Not Run' }).click();
  await bar().getByText('The hook ./guard.sh at before_tool is not running').waitFor();
  // The row can be asked for again.
  await row(/kitchen, Waiting for your approval/).click();
  await bar().getByText('2 programs are not running').waitFor();
});

test('after the approval the hook runs and the bar is gone', async () => {
  await workbench.command('Notifications: Clear All Notifications');
  await bar().getByRole('button', { name: 'Review…' }).click();
  await dialog().getByText('Run this hook of the workspace?').waitFor();
  await dialog().getByRole('button', { name: 'Approve' }).click();
  await dialog().getByText('Start the MCP server “kitchen”?').waitFor();
  await dialog().getByRole('button', { name: 'Do Not Run' }).click();
  await bar().waitFor({ state: 'detached' });
  await badge(1).waitFor({ state: 'detached' });
  await workbench.say('run ls');
  await workbench.settled();
  await workbench.transcript().getByText('The guard says no.').first().waitFor();
});

test('a program plugin that starts with the window waits in the same bar, with its row, until it is approved', async () => {
  // Only the user can let one start with the window.
  const program = { command: ['./kettle.sh'], start: 'window' };
  await workbench.prepare({ 'earshot.plugins.programs': { kettle: program } });
  const script = '#!/bin/sh\nwhile IFS= read -r line; do case $line in *shutdown*) exit ;; esac; done\n';
  await writeFile(inFolder('kettle.sh'), script);
  await chmod(inFolder('kettle.sh'), 0o755);
  await workbench.reload();
  await workbench.openChat();
  await bar().getByText('The program plugin “kettle” is not running: it needs your approval.').waitFor();
  await workbench.command('Notifications: Clear All Notifications');
  expect(await bar().count()).toBe(1);
  await badge(1).waitFor();
  await picture('plugin');
  const head = workbench.page.getByRole('button', { name: /Program Plugins/ });
  if ((await head.getAttribute('aria-expanded')) !== 'true') await head.click();
  await row(/kettle, Not approved/).waitFor();
  await bar().getByRole('button', { name: 'Review…' }).click();
  await dialog().getByText('Run the program plugin “kettle”?').waitFor();
  await dialog().getByRole('button', { name: 'Approve' }).click();
  await bar().waitFor({ state: 'detached' });
  await row(/kettle, Running/).waitFor();
  // The settings do not name it any more, so it is stopped.
  await workbench.prepare({});
  await row(/^kettle, /).waitFor({ state: 'detached' });
});
