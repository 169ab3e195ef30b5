// Files that another program changes while a command runs: listed separately, ignored by Undo, restored only after a
// question.
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { isFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: {
    'earshot.baseUrl': server.baseUrl,
    'earshot.model': 'scripted-model',
    'earshot.approvals.mode': 'all',
  },
}));

const bar = () => workbench.chat().getByRole('region', { name: 'Changed files' });
const text = (path: string) => readFile(join(workbench.folder, path), 'utf8').catch(() => undefined);
const dialog = () => workbench.page.locator('.monaco-dialog-box');

/** The scheduler counters of the command that waits for its pipe; undefined if it does not run or is not asleep. */
function waiting(): string | undefined {
  for (const pid of readdirSync('/proc')) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, 'latin1') !== 'cat\0pipe\0') continue;
      const isAsleep = readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') S ');
      if (isAsleep && readlinkSync(`/proc/${pid}/cwd`) === workbench.folder)
        return readFileSync(`/proc/${pid}/schedstat`, 'latin1');
    } catch {
      // The process has ended, or the entry is not a process.
    }
  }
  return undefined;
}

test('files that another program wrote meanwhile are listed separately from those the command changed', async () => {
  execFileSync('mkfifo', ['pipe'], { cwd: workbench.folder });
  await workbench.openChat();
  const command = "echo 'export const own = 1;' > src/own.ts; echo 'export const late = 3;' >> src/menu.ts; cat pipe";
  server.script(
    { calls: [{ id: 'c', name: 'run_command', arguments: { command } }] },
    { text: ['Done: the files are as you asked.'] },
  );
  await workbench.say('Tidy up the menu.');
  let before: string | undefined;
  const sleeps = () => {
    const [earlier, now] = [before, waiting()];
    before = now;
    return now !== undefined && now === earlier;
  };
  await expect.poll(sleeps, { interval: 300, timeout: 60_000 }).toBe(true);
  await writeFile(join(workbench.folder, 'src/theirs.ts'), 'export const theirs = 2;\n');
  await writeFile(join(workbench.folder, 'README.md'), '# Written by another program\n');
  const { ctimeMs } = await stat(join(workbench.folder, 'README.md'));
  // Wait, so that the command continues clearly later than the other program wrote.
  await expect.poll(() => Date.now() - ctimeMs > 300, { interval: 50 }).toBe(true);
  await promisify(execFile)('sh', ['-c', 'echo go > pipe'], { cwd: workbench.folder });
  await workbench.settled();
  await workbench.openList('Changed files');
  await bar().getByText('2 files changed', { exact: true }).waitFor();
  await bar().getByText('2 files changed meanwhile').waitFor();
  const apart = bar().locator('.changes-meanwhile .changes-base');
  await expect.poll(async () => (await apart.allInnerTexts()).sort()).toEqual(['README.md', 'theirs.ts']);
});

test.runIf(isFull).each(['Default Dark Modern', 'Default Light Modern', 'Default High Contrast'])(
  'the bar in %s',
  async (theme) => {
    await workbench.setTheme(theme);
    const classes = () => workbench.page.locator('.monaco-workbench').getAttribute('class');
    const kind = theme.includes('High') ? 'hc-black' : theme.includes('Dark') ? 'vs-dark' : 'vs ';
    await expect.poll(classes).toContain(kind);
    await workbench.screenshot(`meanwhile-${theme}`);
  },
);

test('Undo names the files it deletes and leaves those of the other program unchanged', async () => {
  await bar().getByRole('button', { name: 'Undo', exact: true }).click();
  await dialog().getByText('Undo Earshot’s changes in 2 files?').waitFor();
  await dialog()
    .getByText(/appeared while a command of Earshot was running: src\/own\.ts/)
    .waitFor();
  await workbench.screenshot('meanwhile-undo');
  await dialog().getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => text('src/own.ts')).toBeUndefined();
  await expect.poll(() => text('src/menu.ts')).not.toContain('late = 3');
  expect(await text('src/theirs.ts')).toBe('export const theirs = 2;\n');
  expect(await text('README.md')).toBe('# Written by another program\n');
  await bar().getByText('2 files changed meanwhile').waitFor();
  await expect.poll(() => bar().getByText('2 files changed', { exact: true }).count()).toBe(0);
});

test('one of them is opened, deleted after a question and restored; the other is dismissed', async () => {
  await bar().locator('.changes-name', { hasText: 'README.md' }).click();
  await workbench.page.locator('.tab', { hasText: 'README.md (changed meanwhile)' }).waitFor();
  const restore = () =>
    bar().getByRole('button', { name: 'Restore src/theirs.ts to its state before the command…', exact: true });
  await restore().press('Enter');
  await dialog().getByText('Delete src/theirs.ts?').waitFor();
  await workbench.screenshot('meanwhile-question');
  await dialog().getByRole('button', { name: 'Cancel' }).click();
  await dialog().waitFor({ state: 'hidden' });
  expect(await text('src/theirs.ts')).toBe('export const theirs = 2;\n');
  const revert = workbench.transcript().getByRole('button', { name: 'Revert' });
  const earlier = await revert.count();
  await restore().press('Enter');
  await dialog().getByRole('button', { name: 'Delete' }).click();
  await expect.poll(() => text('src/theirs.ts')).toBeUndefined();
  // The file is gone before the transcript has the button for it.
  await expect.poll(() => revert.count()).toBe(earlier + 1);
  await revert.last().click();
  await expect.poll(() => text('src/theirs.ts')).toBe('export const theirs = 2;\n');
  await bar().getByText('2 files changed meanwhile').waitFor();
  await bar().getByRole('button', { name: 'Dismiss', exact: true }).click();
  await bar().waitFor({ state: 'hidden' });
  expect(await text('README.md')).toBe('# Written by another program\n');
});
