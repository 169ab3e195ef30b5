// Writing during a turn: queued, removed, with an open approval, interrupting; notifications that wake and interrupt
// the model.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../support/models/scriptedServer.ts';
import { firstUnlessFull } from '../support/runs.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: {
    'earshot.baseUrl': server.baseUrl,
    'earshot.model': 'scripted-model',
    'earshot.approvals.commands': ['cat pipe', 'cat end'],
    'earshot.notifications.levels': { 'file.changed': 'critical' },
    // How many other files changed depends on when they are counted.
    'earshot.notifications.kinds': { file: { workspace: false } },
  },
}));

let first = 0;
beforeEach(async () => {
  server.restart();
  await workbench.openChat();
  await workbench.reset();
  first = server.requests.length;
});

const done: ScriptedAnswer = { text: ['That is done.'] };
let number = 0;
const run = (command: string, more: object = {}) => ({
  id: `d${++number}`,
  name: 'run_command',
  arguments: { command, ...more },
});
const read = (path: string) => ({ id: `d${++number}`, name: 'read_file', arguments: { path } });

interface Message {
  readonly role: string;
  readonly content: unknown;
}

async function messages(request: number): Promise<readonly Message[]> {
  const { body } = await server.request(first + request);
  return (JSON.parse(body) as { messages: Message[] }).messages;
}

const button = (name: string) => workbench.chat().getByRole('button', { name, exact: true });
const queued = () => workbench.chat().getByRole('list', { name: 'Queued messages' });

function makePipe(name: string): string {
  const path = join(workbench.folder, name);
  execFileSync('rm', ['-f', path]);
  execFileSync('mkfifo', [path]);
  return path;
}

async function change(path: string): Promise<void> {
  const file = join(workbench.folder, path);
  await writeFile(file, `${await readFile(file, 'utf8')}// Changed by hand ${++number}.\n`);
}

async function type(text: string, key = 'Enter'): Promise<void> {
  await workbench.composer().fill(text);
  await workbench.composer().press(key);
}

test('queued messages are shown as chips: one is removed, the other is delivered with the running command’s result', async () => {
  const pipe = makePipe('pipe');
  server.script({ calls: [run('cat pipe')] }, done);
  await workbench.say('Go on.');
  await workbench.card('Run cat pipe').getByText('Running', { exact: true }).waitFor();
  await type('Not this one.');
  await queued().getByText('Not this one.').waitFor();
  await type('Also check the receipt.');
  await queued().getByText('Also check the receipt.').waitFor();
  await workbench.composer().fill('And something half typed');
  await workbench.screenshot('delivery-queued');
  await queued().getByRole('button', { name: 'Remove from queue: Not this one.' }).click();
  await expect.poll(() => workbench.composer().inputValue()).toBe('Not this one.\nAnd something half typed');
  await workbench.composer().fill('');
  await writeFile(pipe, 'read\n');
  await workbench.settled();
  const [, , , ...sent] = await messages(1);
  expect(sent).toEqual([
    expect.objectContaining({ role: 'tool', content: expect.stringMatching(/^read/) as string }),
    { role: 'user', content: 'Also check the receipt.' },
  ]);
  expect(JSON.stringify(sent)).not.toContain('Not this one.');
  await workbench.transcript().getByRole('article', { name: 'You, during the turn' }).getByText('Also check').waitFor();
  expect(await queued().getByRole('listitem').count()).toBe(0);
});

test('with an open approval a message rejects with a reason or is queued, and never approves', async () => {
  server.script({ calls: [run('touch never-made')] }, done);
  await workbench.say('Go on.');
  await workbench.card('Run touch never-made').getByRole('button', { name: 'Approve' }).waitFor();
  await type('yes, approve it');
  await queued().getByText('yes, approve it').waitFor();
  await workbench.card('Run touch never-made').getByRole('button', { name: 'Approve' }).waitFor();
  await workbench.composer().fill('not in this folder');
  expect(await button('Interrupt').count()).toBe(0);
  await workbench.screenshot('delivery-approval');
  await button('Reject with this reason').click();
  await workbench.settled();
  const [result, words] = (await messages(1)).slice(-2);
  expect(result?.content).toMatch(/^The user rejected this call: not in this folder\./);
  expect(words).toEqual({ role: 'user', content: 'yes, approve it' });
});

test('Ctrl+Enter interrupts: a streaming answer stays as interrupted, a running command is cancelled', async () => {
  makePipe('pipe');
  server.script({ text: ['I will now explain', ' at great length'], hang: true }, { calls: [run('cat pipe')] }, done);
  await workbench.say('Explain.');
  await workbench.transcript().getByText('at great length').waitFor();
  await type('Stop that, read the pipe.', 'Control+Enter');
  await workbench.transcript().getByText('The answer was cut off.').waitFor();
  await workbench.card('Run cat pipe').getByText('Running', { exact: true }).waitFor();
  await workbench.composer().fill('Enough.');
  await workbench.screenshot('delivery-interrupt');
  await button('Interrupt').click();
  await workbench.settled();
  const delivered = (await messages(2)).slice(-5).map(({ role, content }) => [role, content]);
  expect(delivered).toEqual([
    ['assistant', 'I will now explain at great length'],
    ['user', 'Stop that, read the pipe.'],
    ['assistant', ''],
    ['tool', expect.stringContaining('Cancelled by the user.')],
    ['user', 'Enough.'],
  ]);
});

test('after Stop the queued message is back in the composer', async () => {
  makePipe('pipe');
  server.script({ calls: [run('cat pipe')] });
  await workbench.say('Go on.');
  await workbench.card('Run cat pipe').getByText('Running', { exact: true }).waitFor();
  await type('Every word of this.');
  await queued().getByText('Every word').waitFor();
  await button('Stop').click();
  await workbench.settled();
  await expect.poll(() => workbench.composer().inputValue()).toBe('Every word of this.');
  const undelivered = workbench.chat().getByText('Your queued message was not delivered.');
  await undelivered.waitFor();
  await workbench.composer().fill('');
  await undelivered.waitFor({ state: 'detached' });
});

test('the end of a background command wakes the idle model, and the turn is marked as automatic', async () => {
  const end = makePipe('end');
  server.script({ calls: [run('cat end', { background: true, handle: 'build' })] }, done, {
    text: ['The build is over.'],
  });
  await workbench.say('Build in the background.');
  await workbench.settled();
  await writeFile(end, 'built\n');
  const woken = workbench.transcript().getByRole('article', { name: /^Automatic run/ });
  await woken.getByRole('button', { name: /Background command ended/ }).waitFor();
  await workbench.transcript().getByText('The build is over.').waitFor();
  await workbench.settled();
  await woken.getByRole('button', { name: /Background command ended/ }).click();
  await workbench.screenshot('delivery-woken');
  const request = (await messages(2)).at(-1);
  expect(request).toMatchObject({
    role: 'user',
    content: expect.stringMatching(
      /^<notification [^>]*name="stopped"[\s\S]*\]\]><\/notification>\n\nAutomated event\. No person wrote this and it approves nothing\.$/,
    ) as string,
  });
});

test('a critical notification interrupts the answer; after Stop it stays pending, and Deliver Now delivers it', async () => {
  server.script(
    { calls: [read('src/menu.ts')] },
    { text: ['Let me think'], hang: true },
    { text: ['I see.'], hang: true },
  );
  await workbench.say('Read it.');
  await workbench.transcript().getByText('Let me think').waitFor();
  await change('src/menu.ts');
  await workbench
    .transcript()
    .getByRole('article', { name: /^Automatic run/ })
    .waitFor();
  await workbench.transcript().getByText('I see.').waitFor();
  expect((await messages(2)).slice(-2)).toMatchObject([
    { role: 'assistant', content: 'Let me think' },
    { role: 'user', content: expect.stringContaining('level="critical"') as string },
  ]);
  await button('Stop').click();
  await workbench.settled();
  await change('src/menu.ts');
  await workbench
    .chat()
    .getByText(/because you stopped the last turn/)
    .waitFor();
  for (const theme of firstUnlessFull(['Default Dark Modern', 'Default Light Modern', 'Default High Contrast'])) {
    await setTheme(theme);
    await workbench.screenshot(`delivery-held-${theme}`);
  }
  await setTheme('Default Dark Modern');
  server.restart({ text: ['Now I know.'] });
  await workbench.openList('Pending notifications');
  await button('Deliver now').click();
  await workbench.transcript().getByText('Now I know.').waitFor();
  await workbench.settled();
  expect((await messages(3)).at(-1)?.content).toMatch(/Changed by hand[\s\S]*Automated event\./);
});

test('a pasted image is shown and sent with the message', async () => {
  server.script(done);
  await workbench.composer().focus();
  await workbench.composer().evaluate(async (element) => {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 40;
    const context = canvas.getContext('2d');
    if (context !== null) {
      context.fillStyle = 'orange';
      context.fillRect(0, 0, 40, 40);
    }
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    const data = new DataTransfer();
    data.items.add(new File([blob ?? new Blob()], 'shot.png', { type: 'image/png' }));
    element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  const attached = workbench.chat().getByRole('list', { name: 'Attached' });
  await attached.getByText('shot.png').waitFor();
  await workbench.composer().fill('What is this?');
  await workbench.screenshot('delivery-image');
  await workbench.composer().press('Enter');
  await workbench.transcript().getByText('That is done.').waitFor();
  await workbench.settled();
  expect((await messages(0)).at(-1)).toMatchObject({
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?\n\nAttached image: shot.png' },
      { type: 'image_url', image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) as string } },
    ],
  });
  expect(await workbench.chat().locator('.attachment-chip').count()).toBe(0);
  // The message has its thumbnail, also after a reload.
  const thumbnail = workbench.transcript().getByRole('button', { name: 'Attached image shot.png' }).locator('img');
  const width = () => thumbnail.evaluate((element: HTMLImageElement) => element.naturalWidth);
  await expect.poll(width).toBe(40);
  await workbench.reload();
  await workbench.openChat();
  await expect.poll(width).toBe(40);
});

/** Sets the theme in the settings file; the window follows without a reload. */
async function setTheme(theme: string): Promise<void> {
  await workbench.setTheme(theme);
  const wanted = theme.includes('Light')
    ? 'vscode-light'
    : theme.includes('Contrast')
      ? 'vscode-high-contrast'
      : 'vscode-dark';
  await expect.poll(() => workbench.chat().locator('body').getAttribute('class')).toContain(wanted);
}
