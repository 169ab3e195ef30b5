// Approvals in the browser: with the mouse, with the keyboard, across a reload, two at once.
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { isFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'scripted-model' },
}));

beforeEach(async () => {
  server.restart();
  await workbench.openChat();
  await workbench.reset();
});

const done: ScriptedAnswer = { text: ['That is done.'] };
let number = 0;
const run = (command: string) => ({ id: `call${++number}`, name: 'run_command', arguments: { command } });

const keyboard = (key: string) => workbench.page.keyboard.press(key);

/** The results that the model got for its calls, oldest first. */
function results(): string[] {
  const body = server.requests.at(-1)?.body ?? '{"messages":[]}';
  const { messages } = JSON.parse(body) as { messages: { role: string; content: string }[] };
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
}

test('with the mouse: Approve, then Always, then no further question', async () => {
  server.script({ calls: [run('echo once')] }, { calls: [run('echo ever')] }, { calls: [run('echo ever')] }, done);
  await workbench.say('Go on.');
  await workbench.card('Run echo once').getByRole('button', { name: 'Approve' }).click();
  const always = workbench.card('Run echo ever').first().getByRole('button', { name: 'Always' });
  expect(await always.getAttribute('title')).toContain('echo ever');
  await always.click();
  await workbench.chat().getByRole('menuitem', { name: 'Always in this conversation' }).click();
  await workbench.settled();
  // Three finished calls of one tool are one row.
  await workbench.card('Ran 3 commands').getByRole('button').click();
  expect(await workbench.card('Run echo ever').count()).toBe(2);
  expect(results()).toEqual(['once\n(exit code 0)', 'ever\n(exit code 0)', 'ever\n(exit code 0)']);
});

test('a task whose name has markup, line breaks or direction marks is shown escaped in its approval', async () => {
  const names = ['</p><img src=x><b>Approved</b>', 'boil\nApproved', 'steep\u202egnp.exe'];
  const tasks = names.map((label) => ({ label, type: 'shell', command: 'touch never-made', problemMatcher: [] }));
  await mkdir(join(workbench.folder, '.vscode'), { recursive: true });
  await writeFile(join(workbench.folder, '.vscode/tasks.json'), JSON.stringify({ version: '2.0.0', tasks }));
  const calls = names.map((name) => ({ id: `call${++number}`, name: 'run_task', arguments: { name } }));
  server.script({ calls }, done);
  await workbench.say('Go on.');
  const shown = ['Run task </p><img src=x><b>Approved</b>', 'Run task boil…', 'Run task steep⟨U+202E⟩gnp.exe'];
  const always = ['</p><img src=x><b>Approved</b>', '"boil\\nApproved"', '"steep\\u202egnp.exe"'];
  for (const [index, title] of shown.entries()) {
    const card = workbench.card(title);
    const reject = card.getByRole('button', { name: 'Reject' });
    await reject.waitFor();
    expect(await card.getByRole('button', { name: 'Always' }).getAttribute('title')).toContain(
      `the task ${always[index]}`,
    );
    expect(await card.innerText()).not.toContain('\u202e');
    expect(await card.locator('img, b').count()).toBe(0);
    await reject.click();
  }
  await workbench.settled();
  expect(existsSync(join(workbench.folder, 'never-made'))).toBe(false);
});

test('from the keyboard: the card gets the focus, but no single key answers', async () => {
  server.script({ calls: [run('echo typed')] }, done);
  await workbench.say('Go on.');
  const card = workbench.card('Run echo typed');
  const approve = card.getByRole('button', { name: 'Approve' });
  await approve.waitFor();
  // Right after typing, the focus stays in the composer, so the test moves it.
  await card.getByRole('group', { name: 'Approval: Run echo typed' }).focus();
  await keyboard('Enter');
  await keyboard('Space');
  await approve.waitFor();
  const buttons: string[] = [];
  for (let step = 0; step < 6; step++) {
    await keyboard('Tab');
    buttons.push(await focused());
  }
  const always = 'Always: do not ask again for echo typed';
  expect(buttons).toEqual(['Command', 'Approve', always, 'Modify…', 'Reject', 'Reason for rejecting (optional)']);
  for (let step = 0; step < 4; step++) await keyboard('Shift+Tab');
  await keyboard('Enter');
  await workbench.settled();
  expect(results()).toEqual(['typed\n(exit code 0)']);
  await expect.poll(focused).toBe('Message to Earshot');
});

test('from the keyboard: a rejection with a reason', async () => {
  server.script({ calls: [run('touch never-made')] }, done);
  await workbench.say('Go on.');
  const card = workbench.card('Run touch never-made');
  await card.getByRole('textbox', { name: 'Reason for rejecting' }).focus();
  await workbench.page.keyboard.type('not in this folder');
  await keyboard('Enter');
  await workbench.settled();
  expect(results()).toEqual(['The user rejected this call: not in this folder.']);
  await card.getByText('Rejected', { exact: true }).waitFor();
  expect(existsSync(join(workbench.folder, 'never-made'))).toBe(false);
});

test('from the keyboard: arguments are modified before the call runs; invalid ones are explained on the card', async () => {
  const wrong = { id: `call${++number}`, name: 'read_file', arguments: { path: '../outside.txt' } };
  server.script({ calls: [run('echo model')] }, { calls: [wrong] }, done);
  await workbench.say('Go on.');
  const command = workbench.card('Run echo model');
  await command.getByRole('button', { name: 'Modify…' }).press('Enter');
  const line = command.getByRole('textbox', { name: 'Command to run instead' });
  expect(await line.inputValue()).toBe('echo model');
  await line.fill('echo person');
  await keyboard('Enter');

  const file = workbench.card('Read ../outside.txt');
  await file.getByText('Asked because ../outside.txt is outside the workspace.').waitFor();
  expect(await file.getByRole('button', { name: 'Always' }).count()).toBe(0);
  await file.getByRole('button', { name: 'Modify…' }).press('Enter');
  const json = file.getByRole('textbox', { name: 'Arguments as JSON' });
  await json.fill('{"path": 7');
  await file.getByText('This is not a JSON object.').waitFor();
  await json.fill('{"path": 7}');
  await keyboard('Control+Enter');
  await file.getByText(/Asked again: path:/).waitFor();
  await workbench.screenshot('approvals-modify');
  await json.fill('{"path": "README.md"}');
  await keyboard('Control+Enter');
  await workbench.settled();
  expect(results()[0]).toBe('person\n(exit code 0)');
  expect(results()[1]).toContain('# ');
});

test.runIf(isFull)('an open approval is open again after a reload and can be answered', async () => {
  server.script({ calls: [run('echo after')] }, done);
  await workbench.say('Go on.');
  await workbench.card('Run echo after').getByRole('button', { name: 'Approve' }).waitFor();
  await workbench.reload();
  await workbench.openChat();
  await workbench.card('Run echo after').getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();
  expect(results()).toEqual(['after\n(exit code 0)']);
});

test('two approvals at once: each card answers its own call, and the turn waits for both', async () => {
  server.script({ calls: [run('echo left'), run('echo right')] }, done);
  await workbench.say('Go on.');
  const [left, right] = [workbench.card('Run echo left'), workbench.card('Run echo right')];
  await left.getByRole('button', { name: 'Approve' }).waitFor();
  await right.getByRole('button', { name: 'Reject' }).click();
  await right.getByText('Rejected', { exact: true }).waitFor();
  await workbench.screenshot('approvals-two');
  await left.getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();
  expect(results().sort()).toEqual(['The user rejected this call: no reason given.', 'left\n(exit code 0)']);
});

test('Stop while an approval is open ends the turn, and nothing runs', async () => {
  server.script({ calls: [run('touch stopped-made')] }, done);
  await workbench.say('Go on.');
  await workbench.card('Run touch stopped-made').getByRole('button', { name: 'Approve' }).waitFor();
  await workbench.chat().getByRole('button', { name: 'Stop', exact: true }).click();
  await workbench.settled();
  await workbench.transcript().getByText('Stopped.').waitFor();
  expect(existsSync(join(workbench.folder, 'stopped-made'))).toBe(false);
});

/** The name of the focused element in the chat. */
async function focused(): Promise<string> {
  const active = workbench.chat().locator('*:focus');
  return active.evaluate((element) => element.getAttribute('aria-label') ?? element.textContent);
}
