// One notification end to end with the Guide: read a file, run a command, change the file meanwhile.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { isFull } from '../support/runs.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

const workbench = useSharedWorkbench();
const FILE = 'src/menu.ts';

beforeEach(async () => {
  await workbench.openChat();
  await workbench.reset();
});

test('the empty chat shows a greeting, the model and the versions', async () => {
  const welcome = workbench.chat().locator('.welcome');
  await welcome.getByRole('heading', { name: 'Hello, I am Earshot.' }).waitFor();
  await welcome.getByText(/Guide · offline, no AI/).waitFor();
  await welcome.getByText(/Earshot \d+\.\d+\.\d+ · VS Code 1\.\d+\.\d+/).waitFor();
  expect(await workbench.statusBar().innerText()).toContain('Earshot');
});

test('a change of a read file reaches the model with the running command’s result', async () => {
  const pipe = makePipe('first');
  const before = await readFile(join(workbench.folder, FILE), 'utf8');
  await workbench.say(`read ${FILE} then run cat first`);
  await approve('Run cat first');

  await writeFile(join(workbench.folder, FILE), `// Changed outside.\n${before}`);
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
  await workbench.chat().getByRole('button', { name: 'Pending notifications 1' }).waitFor();
  await workbench.screenshot('slice-pending');

  await writeFile(pipe, 'done\n');
  await workbench.settled();
  const card = workbench.card('Run cat first');
  await card.getByRole('button', { name: /File changed · src\/menu\.ts/ }).click();
  const text = await card.getByRole('group', { name: /Exact text/ }).innerText();
  expect(text).toContain('<notification source="file" name="changed" level="warning"');
  expect(text).toContain('+// Changed outside.');
  await expect.poll(() => workbench.statusBar().innerText()).not.toMatch(/Earshot\s1/);
  expect(await workbench.transcript().innerText()).toContain('I was notified meanwhile:');
});

test.runIf(isFull)(
  'notifications pending while idle are still pending after a reload, counted, and delivered with the next request',
  async () => {
    await workbench.say(`read ${FILE}`);
    await workbench.settled();
    const path = join(workbench.folder, FILE);
    await writeFile(path, `${await readFile(path, 'utf8')}// While nobody worked.\n`);
    await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
    await workbench.reload();
    await workbench.openChat();
    await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
    await workbench.chat().getByRole('button', { name: 'Pending notifications 1' }).waitFor();
    await workbench.card(`Read ${FILE}`).waitFor();
    await workbench.say('list the files');
    await workbench.settled();
    const request = workbench.transcript().locator('.request').last();
    await request.getByRole('button', { name: /File changed · src\/menu\.ts/ }).waitFor();
    expect(
      await workbench
        .chat()
        .getByRole('button', { name: /File changed/ })
        .count(),
    ).toBe(1);
    await expect.poll(() => workbench.statusBar().innerText()).not.toMatch(/Earshot\s1/);
  },
);

test.runIf(isFull)(
  'notifications queued before the extension host is killed are delivered once after the restart',
  async () => {
    makePipe('second');
    const before = await readFile(join(workbench.folder, FILE), 'utf8');
    await workbench.say(`read ${FILE} then run cat second`);
    await approve('Run cat second');
    await writeFile(join(workbench.folder, FILE), `${before}// Before the crash.\n`);
    await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);

    await workbench.killExtensionHost();
    await workbench.reload();
    await workbench.openChat();
    // Nothing runs again; the interrupted call delivers the pending notifications.
    const card = workbench.card('Run cat second');
    await card.getByText('Interrupted', { exact: true }).waitFor();
    const chip = card.getByRole('button', { name: /File changed · src\/menu\.ts/ });
    await chip.click();
    await card.getByText('In the log').waitFor();
    await workbench.screenshot('slice-after-kill');

    await workbench.say('list the files');
    await workbench.settled();
    await card.getByText('Received by the model').waitFor();
    expect(
      await workbench
        .chat()
        .getByRole('button', { name: /File changed/ })
        .count(),
    ).toBe(1);
  },
);

test.runIf(isFull)('an open approval is open again after a reload and can be rejected with a reason', async () => {
  await workbench.say('run echo never');
  await workbench.card('Run echo never').getByRole('button', { name: 'Approve' }).waitFor();
  expect(await workbench.statusBar().innerText()).toContain('waiting for approval');
  await workbench.reload();
  await workbench.openChat();
  const card = workbench.card('Run echo never');
  await card.getByRole('button', { name: 'Approve' }).waitFor();
  await card.getByRole('textbox').fill('not today');
  await workbench.screenshot('slice-approval');
  await card.getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
  await card.getByText('Rejected', { exact: true }).waitFor();
  expect(await workbench.transcript().innerText()).toContain('not today');
});

async function approve(title: string): Promise<void> {
  await workbench.card(title).getByRole('button', { name: 'Approve' }).click();
  await workbench.card(title).getByText('Running', { exact: true }).waitFor();
}

/** A command that reads from the pipe ends when the test writes to it. */
function makePipe(name: string): string {
  const pipe = join(workbench.folder, name);
  execFileSync('mkfifo', [pipe]);
  return pipe;
}
