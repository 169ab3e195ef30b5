// The browser is killed while Earshot answers or waits for the user: the old extension host survives, and a new window
// takes over.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { runs } from '../../support/runs.ts';
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
  await workbench.forgetOtherWindows();
});

const done: ScriptedAnswer = { text: ['That is done.'] };
const ask = { id: 'q1', name: 'ask_user', arguments: { question: 'Green or black?', options: ['Green', 'Black'] } };
let number = 0;
const run = (command: string) => ({ id: `r${++number}`, name: 'run_command', arguments: { command } });

function lastResult(): string | undefined {
  const body = server.requests.at(-1)?.body ?? '{"messages":[]}';
  const { messages } = JSON.parse(body) as { messages: { role: string; content: string }[] };
  return messages.findLast(({ role }) => role === 'tool')?.content;
}

const offer = () => workbench.chat().getByRole('button', { name: 'Continue here' });

const waiting = () => workbench.chat().getByText(/^Waiting for another window/);
/** Only in `npm run test:full`, to save time. */
const full = runs(0, 1) === 1;

test('killed in the middle of a stream, then reloaded with an approval open: nothing is missing or shown twice', async () => {
  server.script({ text: ['The kettle ', 'is on the ', 'stove.'], hang: true, calls: [run('echo here')] }, done);
  await workbench.openChat();
  await workbench.say('Make tea.');
  const streamed = () => workbench.transcript().getByText('The kettle is on the stove.');
  await streamed().waitFor();
  await workbench.killBrowser();
  await workbench.openChat();
  // An answer that the other window has not finished is not on disk yet.
  await offer().waitFor();
  const asked = Date.now();
  await offer().click();
  await waiting().waitFor();
  expect(Date.now() - asked).toBeLessThan(3000);
  expect(await waiting().innerText()).toContain('the answer that is being written there');
  server.release();
  await streamed().waitFor();
  const approval = () => workbench.card('Run echo here');
  await approval().getByRole('button', { name: 'Approve' }).waitFor();
  await workbench.reload();
  await workbench.openChat();
  await approval().getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();
  await workbench.transcript().getByText('That is done.').waitFor();
  const counts = [streamed(), approval(), workbench.transcript().locator('.request')].map((one) => one.count());
  expect(await Promise.all(counts)).toEqual([1, 1, 1]);
  expect(server.requests.length).toBe(2);
  expect(lastResult()).toContain('here');
});

test.runIf(full)(
  'with an open question, Continue Here asks it again in the new window, and the answer counts',
  async () => {
    server.script({ calls: [ask] }, done);
    await workbench.openChat();
    await workbench.reset();
    await workbench.say('Make tea.');
    const question = () => workbench.chat().getByRole('group', { name: 'Question: Green or black?' });
    await question().waitFor();
    await workbench.killBrowser();
    await workbench.openChat();
    await offer().waitFor();
    await workbench.screenshot('killed-browser-offer');
    await offer().click();
    await question().waitFor();
    await workbench.screenshot('killed-browser-question');
    await question().getByText('Black', { exact: true }).click();
    await question().getByRole('button', { name: 'Answer' }).click();
    await workbench.settled();
    expect(lastResult()).toContain('Black');
  },
);

test.runIf(full)('with a running command, Continue Here names it and continues when it has ended', async () => {
  const pipe = join(workbench.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  server.script({ calls: [run('cat pipe')] }, { calls: [run('echo here')] }, done);
  await workbench.reset();
  await workbench.say('Boil water.');
  await workbench.card('Run cat pipe').getByRole('button', { name: 'Approve' }).click();
  await workbench.card('Run cat pipe').getByText('Running').waitFor();
  await workbench.killBrowser();
  await workbench.openChat();
  await offer().click();
  await workbench
    .chat()
    .getByText(/^Waiting for another window.* It is handed over when these tools have ended there: run_command\.$/)
    .waitFor();
  await workbench.screenshot('killed-browser-waits');
  await writeFile(pipe, 'boiled\n');
  // The approval is asked for here, because the turn continues in this window.
  await workbench.card('Run echo here').getByRole('button', { name: 'Approve' }).click();
  await workbench.settled();
  expect(lastResult()).toContain('here');
});
