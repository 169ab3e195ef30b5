// Several approvals at once, Always rules and the key for Approve, with a person's hands.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
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

const KEY = 'Control+Alt+j';
const done: ScriptedAnswer = { text: ['That is done.'] };
let number = 0;
const call = (name: string, values: object) => ({ id: `s${++number}`, name, arguments: { ...values } });
const long = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
const write = (path: string) => call('write_file', { path, content: long });
const run = (command: string) => call('run_command', { command });

const made = (name: string) => existsSync(join(workbench.folder, name));
const bar = () => workbench.chat().locator('.pinned');
const approveIn = (title: string) => workbench.card(title).getByRole('button', { name: 'Approve' });
const focused = () =>
  workbench
    .chat()
    .locator('*:focus')
    .evaluate((element) => element.getAttribute('aria-label') ?? element.textContent);

/** Whether the beginning of the card is in the visible part of the transcript. */
const beginsInView = (title: string) =>
  workbench.card(title).evaluate((card) => {
    const area = card.closest('.scroller')?.getBoundingClientRect();
    const { top } = card.getBoundingClientRect();
    return area !== undefined && top >= area.top - 1 && top < area.bottom;
  });

/** Chooses an entry of the menu of the approvals button. */
async function choose(entry: string | RegExp): Promise<void> {
  await workbench.chat().locator('.footer-button').nth(2).click();
  await workbench.chat().getByRole('menu').getByText(entry).click();
}

test('of five approvals the first is shown from its beginning and focused, and after its answer the next one', async () => {
  const names = ['one.txt', 'two.txt', 'three.txt', 'four.txt'];
  server.script({ calls: [...names.map(write), call('delete_file', { path: 'README.md' })] }, done);
  await workbench.say('Go on.');
  await approveIn('Delete README.md').waitFor();
  await bar().getByText('5 approvals needed. The first: Write one.txt').waitFor();
  await expect.poll(focused).toBe('Approval: Write one.txt');
  expect(await beginsInView('Write one.txt')).toBe(true);
  await workbench.screenshot('several-approvals');
  await approveIn('Write one.txt').press('Enter');
  await expect.poll(focused).toBe('Approval: Write two.txt');
  await expect.poll(() => beginsInView('Write two.txt')).toBe(true);
  // The focus is on the card: Enter and Space answer nothing.
  await workbench.page.keyboard.press('Enter');
  await workbench.page.keyboard.press('Space');
  await bar().getByText('4 approvals needed.').waitFor();
  await bar().getByRole('button', { name: 'Reject All' }).click();
  await workbench.settled();
  expect(names.filter(made)).toEqual(['one.txt']);
  expect(made('README.md')).toBe(true);
  await bar().waitFor({ state: 'detached' });
});

test('Approve All approves every call except those with a warning', async () => {
  server.script({ calls: [run('touch all-one'), run('touch all-two'), run('cat ../outside.txt')] }, done);
  await workbench.say('Go on.');
  const all = bar().getByRole('button', { name: 'Approve All' });
  await approveIn('Run cat ../outside.txt').waitFor();
  await expect.poll(() => all.getAttribute('title')).toContain('Approve 2 calls. 1 with a warning');
  // A click right after a card has appeared is not meant for it.
  await expect
    .poll(async () => {
      await all.click({ timeout: 500 }).catch(() => undefined);
      return made('all-one') && made('all-two');
    })
    .toBe(true);
  await approveIn('Run cat ../outside.txt').waitFor();
  await workbench.card('Run cat ../outside.txt').getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
});

test('the key approves the first call from the composer, but not one that has just appeared', async () => {
  server.script({ calls: [run('touch key-one'), run('touch key-two')], hang: true }, done);
  const next = server.requests.length;
  await workbench.say('Go on.');
  await server.request(next);
  await workbench.composer().focus();
  server.release();
  await approveIn('Run touch key-two').waitFor();
  await workbench.page.keyboard.press(KEY);
  // The user and the screen reader are told why nothing happened.
  await bar().getByRole('alert').getByText('Nothing was answered: this request had only just appeared.').waitFor();
  await workbench.composer().pressSequentially('not yet');
  expect(await approveIn('Run touch key-one').isVisible()).toBe(true);
  expect(made('key-one')).toBe(false);
  expect(await approveIn('Run touch key-one').getAttribute('title')).toBe('Approve (Ctrl+Alt+J)');
  // A card that appears while text is typed does not take the focus.
  expect(await focused()).toBe('Message to Earshot');
  await expect
    .poll(
      async () => {
        // Once its card is answered, the key would be for the next one.
        if (await approveIn('Run touch key-one').isVisible()) await workbench.page.keyboard.press(KEY);
        return made('key-one');
      },
      { interval: 300 },
    )
    .toBe(true);
  await approveIn('Run touch key-two').waitFor();
  expect(made('key-two')).toBe(false);
  expect(await workbench.composer().inputValue()).toBe('not yet');
  await workbench.composer().fill('');
  await workbench.card('Run touch key-two').getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
});

test('a change of mode answers the open requests that it covers', async () => {
  server.script({ calls: [write('mode-one.txt'), write('mode-two.txt'), run('touch mode-three')] }, done);
  await workbench.say('Go on.');
  await approveIn('Run touch mode-three').waitFor();
  await choose('Ask for commands');
  await expect.poll(() => made('mode-one.txt') && made('mode-two.txt')).toBe(true);
  await approveIn('Run touch mode-three').waitFor();
  expect(made('mode-three')).toBe(false);
  await choose('Ask for changes');
  await workbench.card('Run touch mode-three').getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
});

test('Always covers the other open requests; the footer says so; Ask always asks; the rule is listed and revoked', async () => {
  server.script({ calls: [write('rule-one.txt'), write('rule-two.txt')] }, done);
  await workbench.say('Go on.');
  await approveIn('Write rule-two.txt').waitFor();
  await workbench.card('Write rule-one.txt').getByRole('button', { name: 'Always' }).click();
  await workbench.chat().getByRole('menuitem', { name: 'Always in this folder' }).click();
  await workbench.settled();
  expect(made('rule-one.txt') && made('rule-two.txt')).toBe(true);
  await workbench.chat().getByText('+ 1 rule').waitFor();

  await workbench.command('Earshot: New Chat');
  await choose('Ask always');
  await workbench.chat().getByText('+ 1 rule').waitFor({ state: 'detached' });
  server.script({ calls: [write('rule-three.txt')] }, done);
  await workbench.say('Go on.');
  await workbench.card('Write rule-three.txt').getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
  await choose('Ask for changes');

  await choose('Always rules (1)…');
  const row = workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: 'Write file' });
  await row.getByText('every call of this tool').waitFor();
  expect(await row.innerText()).toMatch(/In this folder · since /);
  await workbench.screenshot('always-rules');
  await row.click();
  await workbench.page.keyboard.press('Enter');
  await workbench.chat().getByText('+ 1 rule').waitFor({ state: 'detached' });
  server.script({ calls: [write('rule-four.txt')] }, done);
  await workbench.say('Go on.');
  await workbench.card('Write rule-four.txt').getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
  expect(made('rule-three.txt') || made('rule-four.txt')).toBe(false);
});

test('a task shows its command and the task before it on its card', async () => {
  server.script({ calls: [call('run_task', { name: 'check' })] }, done);
  await workbench.say('Go on.');
  const card = workbench.card('Run task check');
  await card.getByText('npm run --silent check').waitFor();
  await card.getByText(workbench.folder, { exact: true }).waitFor();
  await workbench.screenshot('task-approval');
  await card.getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
});

test('with a hidden view, one message in words announces all approvals', async () => {
  const calls = [write('toast-one.txt'), call('delete_file', { path: 'README.md' }), run('echo toast')];
  server.script({ calls, hang: true }, done);
  const next = server.requests.length;
  await workbench.say('Ask me while I look away.');
  await server.request(next);
  await workbench.command('View: Toggle Secondary Side Bar Visibility');
  await workbench.composer().waitFor({ state: 'hidden' });
  server.release();
  await expect.poll(() => workbench.statusBar().innerText()).toContain('waiting for approval');
  const centre = workbench.page.locator('.notifications-center');
  const look = async () => {
    if (await centre.isVisible()) await workbench.command('Notifications: Hide Notifications');
    await workbench.command('Notifications: Show Notifications');
    return centre.innerText();
  };
  await expect.poll(look, { interval: 1000 }).toContain('Earshot needs 3 approvals: ');
  const messages = centre.locator('.notification-list-item').filter({ hasText: /toast-one|README|echo toast/ });
  expect(await messages.count()).toBe(1);
  for (const part of ['write toast-one.txt', 'delete README.md', 'echo toast'])
    expect(await messages.innerText()).toContain(part);
  await messages.getByText('Show', { exact: true }).click();
  if (await centre.isVisible()) await workbench.command('Notifications: Hide Notifications');
  // A click right after the cards have appeared is not meant for them.
  await expect
    .poll(async () => {
      await bar()
        .getByRole('button', { name: 'Reject All' })
        .click({ timeout: 500 })
        .catch(() => undefined);
      return bar().count();
    })
    .toBe(0);
  await workbench.settled();
});
