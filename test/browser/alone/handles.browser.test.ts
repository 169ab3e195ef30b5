// Background commands in the browser: moved, listed, typed into, stopped; also after the extension host is killed in
// each state. Timers and conditions: listed, fired, cancelled.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { firstUnlessFull } from '../../support/runs.ts';
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
    'earshot.notifications.activation': 'passive',
    // A busy machine may need long for a restart.
    'earshot.handles.ownerTimeout': 300,
    // Without GPU acceleration, the terminal's text can be read from the page.
    'terminal.integrated.gpuAcceleration': 'off',
  },
}));

const THEMES = { dark: 'Default Dark Modern', light: 'Default Light Modern', contrast: 'Default High Contrast' };

const list = () => workbench.chat().getByRole('region', { name: 'Background', exact: true });
const button = (name: string) => list().getByRole('button', { name });
const done = { text: ['Done.'] };

function background(id: string, handle: string, command: string) {
  return { id, name: 'run_command', arguments: { command, background: true, handle } };
}

test('a running command is moved to the background, listed, shown in a terminal, sent to the model and stopped', async () => {
  server.script(
    { calls: [{ id: 'a', name: 'run_command', arguments: { command: 'echo serving; sleep 1000' } }] },
    done,
  );
  await workbench.openChat();
  await workbench.say('Serve.');
  const card = workbench.card('Run echo serving');
  await card.getByText('serving', { exact: true }).waitFor();
  await workbench.screenshot('handles-move-to-background');
  await card.getByRole('button', { name: 'Move to background' }).click();
  await workbench.settled();
  await card.getByRole('button', { name: /^Run echo serving/ }).click();
  await card.getByText(/The user moved it to the background/).waitFor();
  await workbench.openList('Background');
  await list()
    .getByText(/running for/)
    .waitFor();

  await button('Show echo-serving-sleep-1000 in a terminal').click();
  const terminal = workbench.page.locator('.terminal-wrapper.active');
  await expect.poll(() => terminal.locator('.xterm-rows').innerText()).toContain('serving');
  await workbench.screenshot('handles-terminal');

  server.script({ text: ['I see it.'] });
  await button('Notify the model of the state of echo-serving-sleep-1000').click();
  await workbench.transcript().getByText('I see it.').waitFor();
  expect(server.requests.at(-1)?.body).toMatch(
    /Look at the background command “echo-serving-sleep-1000”: running for[^"]*serving/,
  );

  await button('Stop echo-serving-sleep-1000').click();
  await list()
    .locator('.handle')
    .getByText(/was stopped \(by the user\)/)
    .waitFor();
  await button('Remove echo-serving-sleep-1000 from the list').click();
  await list().waitFor({ state: 'hidden' });
});

test('a command that waits for input is answered in the terminal; the list is shown in every theme', async () => {
  await workbench.openChat();
  await workbench.reset();
  server.script(
    { calls: [background('b', 'setup', 'printf "Name? "; read name; echo "Hello $name"; sleep 1000')] },
    done,
  );
  await workbench.say('Set it up.');
  await workbench.settled();
  await workbench.openList('Background');
  await list()
    .getByText(/seems to wait for input at: Name\?/)
    .waitFor();
  await list().locator('.handle-head').click();
  for (const [name, theme] of firstUnlessFull(Object.entries(THEMES))) {
    await workbench.setTheme(theme);
    await expect
      .poll(() => workbench.page.locator('body > .monaco-workbench').getAttribute('class'))
      .toMatch(classOf(theme));
    await workbench.screenshot(`handles-list-${name}`);
  }
  await workbench.setTheme(THEMES.dark);
  await button('Show setup in a terminal').click();
  const terminal = workbench.page.locator('.terminal-wrapper.active');
  await expect.poll(() => terminal.locator('.xterm-rows').innerText()).toContain('Name?');
  await terminal.locator('.xterm-helper-textarea').focus();
  await workbench.page.keyboard.type('Adx');
  await workbench.page.keyboard.press('Backspace');
  await workbench.page.keyboard.type('a\n');
  await expect.poll(() => terminal.locator('.xterm-rows').innerText()).toContain('Hello Ada');
  await list().getByRole('group', { name: 'Last output of setup' }).getByText('Hello Ada').waitFor();
  await workbench.screenshot('handles-typed');
  await button('Stop setup').click();
  await list()
    .locator('.handle')
    .getByText(/was stopped/)
    .waitFor();
});

test('a timer and a condition are listed with their evidence; one is fired and delivered, the other is cancelled', async () => {
  await workbench.openChat();
  await workbench.reset();
  const wake = (id: string, name: string, when: object) => ({ id, name: 'wake_when', arguments: { name, when } });
  server.script(
    { calls: [wake('f', 'stand-up', { after: '2h' }), wake('g', 'log', { file: 'never.log', is: 'exists' })] },
    done,
  );
  await workbench.say('Set both.');
  await workbench.settled();
  const due = await workbench.openList('Due');
  await due.getByText(/never\.log exists · there is no such file/).waitFor();
  await workbench.screenshot('due-list');
  server.script({ text: ['It is time.'] });
  await due.getByRole('button', { name: 'Fire stand-up now' }).click();
  await workbench.transcript().getByText('It is time.').waitFor();
  expect(server.requests.at(-1)?.body).toMatch(
    /The timer “stand-up” that you set at [^"]* The user had it fired now\./,
  );
  await expect.poll(() => due.locator('.due-one').count()).toBe(1);
  await due.getByRole('button', { name: 'Cancel log' }).click();
  await due.waitFor({ state: 'hidden' });
});

test('after the extension host is killed, a running, an ended and a waiting command are each reported once and usable', async () => {
  await workbench.openChat();
  await workbench.reset();
  const job = 'while [ ! -e go ]; do sleep 0.1; done; echo result; touch over; exit 7';
  const wait = 'while [ ! -e ask ]; do sleep 0.1; done';
  server.script(
    {
      calls: [
        background('c', 'shell', 'echo ready; while read line; do echo "got $line"; done'),
        background('d', 'job', job),
        background('e', 'ask', `${wait}; printf "Sure? [y/N] "; read answer; echo "was $answer"; sleep 1000`),
      ],
    },
    done,
  );
  await workbench.say('Start three.');
  await workbench.settled();
  // A question during the turn would be delivered with it.
  await writeFile(join(workbench.folder, 'ask'), '');
  await workbench.openList('Background');
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
  await workbench.killExtensionHost();
  await writeFile(join(workbench.folder, 'go'), '');
  await expect.poll(() => existsSync(join(workbench.folder, 'over'))).toBe(true);
  await workbench.reload();
  await workbench.openChat();
  await workbench.openList('Background');
  await list()
    .locator('.handle')
    .getByText(/ended with exit code 7/)
    .waitFor();
  await list()
    .getByText(/seems to wait for input at: Sure/)
    .waitFor();
  // Until the waiting state is detected, the waiting command is listed as running too.
  await list()
    .getByText(/^running for [^;]*$/)
    .waitFor();
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s2/);
  await workbench.screenshot('handles-after-kill');

  const apply = (id: string, name: string, text: string) => ({
    id,
    name: 'handle',
    arguments: { action: 'apply', name, text },
  });
  server.script({ calls: [apply('f', 'shell', 'this'), apply('g', 'ask', 'y')] }, done);
  await workbench.say('Answer both.');
  await workbench.settled();
  const body = server.requests.at(-1)?.body ?? '';
  expect(body).toContain('got this');
  expect(body).toContain('was y');
  expect(body.match(/ended with exit code 7/g)).toHaveLength(1);
  expect(body.match(/<notification source=\\"tool\\" name=\\"waiting\\"/g)).toHaveLength(1);
  for (const name of ['shell', 'ask']) await button(`Stop ${name}`).click();
  await expect
    .poll(() =>
      list()
        .locator('.handle')
        .getByText(/was stopped/)
        .count(),
    )
    .toBe(2);
});

function classOf(theme: string): RegExp {
  if (theme.includes('High Contrast')) return /\bhc-black\b/;
  return theme.includes('Light') ? /\bvs(?!-)\b/ : /\bvs-dark\b/;
}
