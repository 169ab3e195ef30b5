// A scripted model over HTTP: the page shows exactly what was sent, also across a crash.
import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedServer, startScriptedServer } from '../support/models/scriptedServer.ts';
import { isFull } from '../support/runs.ts';
import { useSharedWorkbench } from '../support/sharedWorkbench.ts';
import { pdfFile } from '../support/tools/pdfFile.ts';

const FILE = 'src/order.ts';
let server: ScriptedServer;

beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useSharedWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'scripted-model' },
}));

interface Body {
  model: string;
  messages: { role: string; content: string | null }[];
}

const bodyOf = async (number: number) => JSON.parse((await server.request(number)).body) as Body;

test('the block on the card equals the block in the request', async () => {
  const pipe = makePipe('third');
  const first = server.requests.length;
  server.script(
    { text: ['I read ', 'the file.'], calls: [{ id: 'a', name: 'read_file', arguments: { path: FILE } }] },
    { calls: [{ id: 'b', name: 'run_command', arguments: { command: 'cat third' } }] },
    { text: ['**Heard** ', 'it.'] },
  );
  await workbench.openChat();
  await workbench.chat().locator('footer').getByText('scripted-model').waitFor();
  await workbench.say('Go on.');
  const card = workbench.card('Run cat third');
  await card.getByRole('button', { name: 'Approve' }).click();
  await change('// Told over the wire.');
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
  await writeFile(pipe, 'done\n');
  await workbench.settled();

  await card.getByRole('button', { name: /File changed/ }).click();
  const shown = await card.getByRole('group', { name: /Exact text/ }).textContent();
  const body = await bodyOf(first + 2);
  expect(body.model).toBe('scripted-model');
  expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: `done\n(exit code 0)\n\n${shown ?? ''}` });
  expect(shown).toContain('+// Told over the wire.');
  await workbench.transcript().locator('strong', { hasText: 'Heard' }).waitFor();
});

test('the text of a PDF is read by the program that ships, in the editor’s own Node', async () => {
  await writeFile(join(workbench.folder, 'leaflet.pdf'), pdfFile([{ lines: ['Warm the pot.'] }, {}]));
  const first = server.requests.length;
  server.script({ calls: [{ id: 'p', name: 'read_file', arguments: { path: 'leaflet.pdf' } }] }, { text: ['Read.'] });
  await workbench.openChat();
  await workbench.say('Read the leaflet.');
  await workbench.settled();
  expect((await bodyOf(first + 1)).messages.at(-1)?.content).toMatch(
    /^--- Page 1 of 2 ---\nWarm the pot\.\n\n--- Page 2 of 2 ---\n\(no text on this page\)/,
  );
});

test.runIf(isFull)(
  'after a kill between queueing and delivery, the notification is in exactly one carrier and in the next request',
  async () => {
    makePipe('fourth');
    await workbench.reset();
    const first = server.requests.length;
    server.script(
      { calls: [{ id: 'c', name: 'read_file', arguments: { path: FILE } }] },
      { calls: [{ id: 'd', name: 'run_command', arguments: { command: 'cat fourth' } }] },
    );
    await workbench.say('Go on.');
    await workbench.card('Run cat fourth').getByRole('button', { name: 'Approve' }).click();
    await change('// Queued before the crash.');
    await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
    await workbench.killExtensionHost();

    await workbench.reload();
    await workbench.openChat();
    await workbench.card('Run cat fourth').getByText('Interrupted', { exact: true }).waitFor();
    server.script({ text: ['Understood.'] });
    await workbench.say('And now?');
    await workbench.settled();
    const body = await bodyOf(first + 2);
    const carriers = body.messages.filter(({ content }) => content?.includes('+// Queued before the crash.'));
    expect(carriers.map(({ role }) => role)).toEqual(['tool']);
    expect(body.messages.at(-1)).toEqual({ role: 'user', content: 'And now?' });
  },
);

test.runIf(isFull)('after a kill in the middle of an answer, the text that was shown is still there', async () => {
  await workbench.reset();
  server.script({ text: ['Half an ', 'answer'], hang: true });
  await workbench.say('Go on.');
  await workbench.transcript().getByText('Half an answer').waitFor();
  const isStored = async () =>
    (await readdir(workbench.dataFolder, { recursive: true })).some((name) => name.endsWith('partial.jsonl'));
  await expect.poll(isStored).toBe(true);
  await workbench.killExtensionHost();
  await workbench.reload();
  await workbench.openChat();
  await workbench.transcript().getByText('Half an answer').waitFor();
  await workbench.transcript().getByText('This turn was interrupted').waitFor();
});

test('a refusal by the endpoint is shown with the next step, and the message can be sent again', async () => {
  await workbench.reset();
  server.script({ refuse: { status: 401, message: 'bad key' } });
  await workbench.say('Hello?');
  await workbench.settled();
  await workbench
    .transcript()
    .getByText(/refused the API key/)
    .waitFor();
  await workbench.screenshot('scripted-refused');
  server.script({ text: ['Hello!'] });
  await workbench.say('Hello again?');
  await workbench.transcript().getByText('Hello!', { exact: true }).waitFor();
});

async function change(line: string): Promise<void> {
  const path = join(workbench.folder, FILE);
  await writeFile(path, `${await readFile(path, 'utf8')}${line}\n`);
}

function makePipe(name: string): string {
  const pipe = join(workbench.folder, name);
  execFileSync('mkfifo', [pipe]);
  return pipe;
}
