// Obstacles with their next step: no folder, storage that cannot be written, a corrupt log.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench({ expectedErrors: /damaged|cannot be written|draft/ });

test.runIf(isFull)('a corrupt line in the log is reported, and the rest of the conversation is shown', async () => {
  await workbench.openChat();
  await workbench.say('read README.md');
  await workbench.settled();
  await workbench.say('list the files');
  await workbench.settled();
  const log = await findLog();
  const lines = (await readFile(log, 'utf8')).split('\n');
  const broken = lines.findIndex((line) => line.includes('"type":"tool_call_response"'));
  lines[broken] = lines[broken]?.replace('"is_error"', '"is_errxr"') ?? '';
  // Bytes are changed while no window has the log open.
  await workbench.page.goto('about:blank');
  await expect.poll(() => workbench.server.extensionHostPids()).toEqual([]);
  await writeFile(log, lines.join('\n'));
  await workbench.returnToFolder();
  await workbench.openChat();
  await workbench
    .chat()
    .getByText(`Line ${broken + 1} of this conversation’s log is damaged`, { exact: false })
    .waitFor();
  await workbench.transcript().getByText('list the files').first().waitFor();
  await workbench.screenshot('obstacles-corrupt-log');
  await workbench.say('list the files');
  await workbench.settled();
});

test('storage that cannot be written is reported, and nothing typed is lost', async () => {
  await workbench.openChat();
  await workbench.say('list the files');
  await workbench.settled();
  await workbench.reset();
  // Otherwise its window would notice that the lock is gone, and lock it again.
  await expect.poll(async () => (await workbench.owners()).every(({ released }) => released)).toBe(true);
  const storage = join(await findStorage(), 'conversations');
  await rm(storage, { recursive: true });
  // A file in place of the folder: nobody can write there, not even root.
  await writeFile(storage, '');
  await workbench.composer().fill('these words stay');
  await workbench.composer().press('Enter');
  await workbench
    .chat()
    .getByRole('alert')
    .getByText(/cannot keep conversations/)
    .waitFor();
  await expect.poll(() => workbench.composer().inputValue()).toBe('these words stay');
  await workbench.screenshot('obstacles-storage');
  await rm(storage);
  const draft = join(storage, '..', 'draft.txt');
  await expect.poll(() => readFile(draft, 'utf8').catch(() => '')).toBe('these words stay');
  await workbench.reload();
  await workbench.openChat();
  await expect.poll(() => workbench.composer().inputValue()).toBe('these words stay');
  await workbench.say('list the files');
  await workbench.settled();
  await workbench.transcript().getByText('package.json').first().waitFor();
});

test('without an open folder the chat says so and still works', async () => {
  const window = await workbench.newWindow({ noFolder: true });
  await workbench.openChat(window);
  await workbench.chat(window).getByText('No folder is open', { exact: false }).waitFor();
  await workbench.chat(window).getByRole('button', { name: 'Open folder' }).waitFor();
  await workbench.say('list the files', window);
  await workbench.settled(window);
  await workbench.transcript(window).getByText('No folder is open in the editor.').first().waitFor();
  await workbench.screenshot('obstacles-no-folder', window);
  await window.close();
});

async function findStorage(): Promise<string> {
  const parent = join(workbench.dataFolder, 'data', 'User', 'workspaceStorage');
  const [workspace = ''] = await readdir(parent);
  return join(parent, workspace, 'earshot.earshot');
}

async function findLog(): Promise<string> {
  const conversations = join(await findStorage(), 'conversations');
  const newest = (await readdir(conversations)).sort().at(-1) ?? '';
  return join(conversations, newest, 'events.jsonl');
}
