// MCP servers in the browser, only in `npm run test:full`: rows, inputs, approval, form, image, sign-in, a task over a
// reload, and no secret in any file.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endAll } from '../../support/endings.ts';
import { startEverything, startFilesystem } from '../../support/mcp/httpServers.ts';
import { type OauthServer, startOauthServer } from '../../support/mcp/oauthServer.ts';
import { startTaskServer, type TaskServer } from '../../support/mcp/taskServer.ts';
import { type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { isFull } from '../../support/runs.ts';
import { useSharedWorkbench } from '../../support/sharedWorkbench.ts';

const root = resolve(import.meta.dirname, '../../..');
const inFull = test.runIf(isFull);
const CANARIES = {
  input: 'canary-input-5f1e9c0b7a',
  header: 'canary-header-81d2aa03c4',
  access: 'canary-access-c07be51f93',
  refresh: 'canary-refresh-19ee4407ab',
};
const tools = [
  { name: 'echo', annotations: { readOnlyHint: true } },
  { name: 'ask' },
  { name: 'environment' },
  { name: 'picture' },
];
const scripted = (options: object) => ({
  command: 'node',
  args: [join(root, 'test/support/mcp/scriptedServer.mjs'), JSON.stringify(options)],
});

let model: ScriptedServer;
let vault: OauthServer;
let tasks: TaskServer;
beforeAll(async () => {
  model = await startScriptedServer();
  vault = await startOauthServer(CANARIES);
  tasks = await startTaskServer();
});
afterAll(async () => {
  await model.stop();
  await endAll();
});

const base = () => ({
  'earshot.baseUrl': model.baseUrl,
  'earshot.model': 'scripted-model',
  'earshot.notifications.activation': 'passive',
});
const workbench = useSharedWorkbench(async () => ({
  settings: {
    ...base(),
    'earshot.mcp.inputs': [
      { type: 'promptString', id: 'key', description: 'Key of the kitchen', password: true },
      { type: 'promptString', id: 'token', description: 'Token of the stove', password: true },
    ],
    'earshot.mcp.servers': {
      kitchen: {
        ...scripted({ tools, instructions: 'Ask before you order tea.', resources: { 'tea://menu': 'Oolong' } }),
        env: { KITCHEN_KEY: '${input:key}' },
      },
      stove: { url: tasks.url, headers: { 'x-token': '${input:token}' } },
      vault: { url: vault.url },
    },
  },
}));

const done = { text: ['That is done.'] };
const call = (name: string, args: object = {}, id = `${name}-1`) => ({ calls: [{ id, name, arguments: args }] });
const row = (name: string) => workbench.page.getByRole('treeitem', { name });

async function picture(name: string): Promise<void> {
  for (const theme of ['Light Modern', 'Dark Modern']) {
    await workbench.setTheme(theme);
    await workbench.screenshot(`mcp-${name}-${theme}`);
  }
}

/** Enters the inputs. The servers start at the same time, and their inputs are asked for one by one in any order. */
async function enterInputs(): Promise<void> {
  const box = workbench.page.locator('.quick-input-widget input[type="password"]');
  const title = workbench.page.locator('.quick-input-titlebar', { hasText: /MCP server (kitchen: key|stove: token)/ });
  const asked: string[] = [];
  for (const _ of [1, 2]) {
    await expect.poll(async () => asked.includes(await title.innerText()), { timeout: 60_000 }).toBe(false);
    const text = await title.innerText();
    asked.push(text);
    await box.fill(text.includes('kitchen') ? CANARIES.input : CANARIES.header);
    await box.press('Enter');
  }
}

/**
 * Provides what a server that hosts the editor has and the test server lacks: the key with which the browser seals
 * secrets, and forwarding to ports of its machine.
 */
async function hostLikeAServer(): Promise<void> {
  const key = Buffer.alloc(32, 7);
  await workbench.page.context().route('**/mint-key', (route) => route.fulfill({ body: key }));
  await workbench.page.context().route(/\/proxy\/\d+\//, (route) => {
    const [, port, rest] = /\/proxy\/(\d+)\/(.*)$/.exec(route.request().url()) ?? [];
    const address = JSON.stringify(`http://127.0.0.1:${port}/${rest}`);
    return route.fulfill({ contentType: 'text/html', body: `<script>location.replace(${address})</script>` });
  });
}

inFull('inputs are asked for once, rows show the state of servers, and a sign-in ends in the browser', async () => {
  await hostLikeAServer();
  // Opening the chat starts the servers, which ask for inputs at once. The palette is then replaced by an input box.
  await workbench.startCommand('Earshot: Open Chat');
  await enterInputs();
  await workbench.openChat();
  await workbench.page.getByRole('button', { name: 'MCP Servers Section' }).click();
  await row('kitchen, connected').waitFor();
  await row('stove, connected').waitFor();
  await row('vault, Sign in to use it').waitFor();
  await row('kitchen, connected').click();
  await row('echo').first().waitFor();
  await picture('rows');
  // Collapsed again, because the list has room for only a few rows.
  await row('kitchen, connected').click();
  await row('vault, Sign in to use it').hover();
  await picture('sign-in');
  const popup = workbench.page.context().waitForEvent('page');
  // The chat offers it until it is done; a toast over it would be gone by now.
  const offer = workbench.chat().getByRole('status').filter({ hasText: '“vault” requires you to sign in.' });
  await offer.getByRole('button', { name: 'Sign In' }).click();
  const page = await popup;
  await page.getByText('You are signed in.').waitFor();
  await workbench.screenshot('mcp-signed-in-page', page);
  await page.close();
  await row('vault, connected').waitFor();
  await offer.waitFor({ state: 'detached' });
  await picture('signed-in');
});

inFull('a server of the workspace starts after its command and hashes were approved', async () => {
  const file = join(workbench.folder, '.mcp.json');
  await writeFile(file, JSON.stringify({ mcpServers: { 'shop floor': scripted({ tools: [{ name: 'echo' }] }) } }));
  const waiting = row('shop floor, Waiting for your approval');
  await waiting.hover();
  await waiting.getByRole('button', { name: 'Start or Restart MCP Server' }).click();
  const dialog = workbench.page.getByRole('dialog').filter({ hasText: 'Start the MCP server' });
  await dialog.getByText('SHA-256').first().waitFor();
  await picture('approval');
  await dialog.getByRole('button', { name: 'Start Server' }).click();
  await row('shop floor, connected').waitFor();
});

inFull('a call is approved with what its server says, a form is filled in, an image is shown', async () => {
  model.script(
    call('kitchen__environment', { name: 'KITCHEN_KEY' }),
    call('kitchen__ask'),
    call('kitchen__picture'),
    done,
  );
  await workbench.say('Order tea.');
  const first = workbench.card(/environment/);
  await first.getByText('It does not say what the tool may change.').waitFor();
  await picture('call-approval');
  await first.getByRole('button', { name: 'Always' }).click();
  await workbench.chat().getByRole('menuitem', { name: 'All tools of kitchen in this folder' }).click();
  const question = workbench.card(/kitchen: ask/);
  await question.getByText('The MCP server “kitchen” asks: What shall I order?').waitFor();
  await picture('elicitation');
  await question.getByRole('radio', { name: 'Oolong' }).check();
  await question.getByRole('spinbutton', { name: 'Cups' }).fill('3');
  await question.getByRole('button', { name: 'Submit' }).click();
  await workbench.settled();
  await workbench
    .card(/kitchen: picture/)
    .getByRole('button')
    .first()
    .click();
  await workbench
    .card(/kitchen: picture/)
    .getByRole('img', { name: 'Image 1 of the result' })
    .waitFor();
  await picture('image');
  const body = model.requests.at(-1)?.body ?? '';
  expect(body).toContain('Oolong');
  expect(body).toContain('Ask before you order tea.');
});

inFull('a resource is attached with the picker, and goes with the message', async () => {
  model.script(done);
  await workbench.composer().fill('@menu');
  await workbench
    .chat()
    .getByRole('option', { name: /tea:\/\/menu/ })
    .click();
  await workbench.chat().getByText('tea://menu').first().waitFor();
  await picture('resource');
  await workbench.say('What is there?');
  await workbench.settled();
  expect(model.requests.at(-1)?.body).toContain('the resource tea://menu of the MCP server “kitchen”');
});

inFull('a task that ends while the window is reloaded is reported once, and its result is fetched', async () => {
  model.script(call('stove__brew'), done);
  await workbench.say('Brew.');
  await workbench
    .card(/stove: brew/)
    .getByRole('button', { name: 'Approve' })
    .click();
  await expect
    .poll(() => tasks.requests.filter((method) => method === 'tasks/get').length, { timeout: 60_000 })
    .toBeGreaterThan(1);
  await workbench.page.goto('about:blank');
  tasks.complete('Tea is ready.');
  await workbench.returnToFolder();
  await workbench.openChat();
  // Inputs and tokens were kept, so nothing is asked for again.
  await row('stove, connected').waitFor();
  await row('kitchen, connected').waitFor();
  await row('vault, connected').waitFor();
  expect(await workbench.page.locator('.quick-input-widget').isVisible()).toBe(false);
  model.restart(
    { calls: [{ id: 'f', name: 'handle', arguments: { action: 'fetch', name: 'stove-brew' } }] },
    done,
    done,
  );
  await expect.poll(() => tasks.requests.includes('tasks/result'), { timeout: 120_000 }).toBe(true);
  await workbench.say('What came of it?');
  await workbench.settled();
  await workbench.say('Anything else?');
  await workbench.settled();
  const body = model.requests.at(-1)?.body ?? '';
  expect(body.split('The background command “stove-brew” (stove__brew) ended').length).toBe(2);
  expect(body).toContain('Tea is ready.');
  expect(tasks.requests.filter((method) => method === 'tools/call')).toHaveLength(1);
});

inFull('no secret is in a log, a conversation or any other file, nor in a request to the model', async () => {
  model.restart(call('vault__open'), done);
  await workbench.say('Open the vault.');
  await workbench
    .card(/vault: open/)
    .getByRole('button', { name: 'Approve' })
    .click();
  await workbench.settled();
  expect(model.requests.at(-1)?.body).toContain('It is open.');
  expect(vault.authorizations).toContain(`Bearer ${CANARIES.access}`);
  const requests = model.requests.map(({ body }) => body).join('\n');
  for (const canary of Object.values(CANARIES)) {
    expect(requests).not.toContain(canary);
    expect(await filesWith(canary)).toEqual([]);
  }
  expect((await workbench.logLines()).some((line) => line.includes('The key is •••.'))).toBe(true);
});

inFull('an exported conversation contains no secret', async () => {
  // Markdown is for people, and names tools for them.
  for (const [format, tool] of Object.entries({ JSON: 'vault__open', Markdown: 'vault: open' })) {
    const file = join(workbench.folder, `exported.${format}`);
    await workbench.startCommand('Earshot: Export Conversation');
    await workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: format }).click();
    await workbench.page.locator('.editor-group-container .tab', { hasText: 'Untitled' }).waitFor();
    await workbench.page.keyboard.press('Control+s');
    const name = workbench.page.locator('.quick-input-widget input[type="text"]').first();
    await expect.poll(() => name.inputValue()).toContain(workbench.folder);
    await name.fill(file);
    await name.press('Enter');
    await expect.poll(() => readFile(file, 'utf8').catch(() => '')).toContain(tool);
    for (const canary of Object.values(CANARIES)) expect(await filesWith(canary)).toEqual([]);
  }
});

inFull('the official everything and filesystem servers are used over HTTP', async () => {
  const [everything, files] = await Promise.all([startEverything('streamableHttp'), startFilesystem(workbench.folder)]);
  await workbench.prepare({
    ...base(),
    'earshot.approvals.mode': 'all',
    'earshot.mcp.servers': { everything: { url: everything.url }, files: { url: files.url } },
  });
  await row('everything, connected').waitFor();
  await row('files, connected').waitFor();
  const path = join(workbench.folder, 'tea.txt');
  await writeFile(path, 'Oolong and Assam');
  model.restart(call('everything__echo', { message: 'steeped' }), call('files__read_text_file', { path }), done);
  await workbench.say('Read it.');
  await workbench.settled();
  const body = model.requests.at(-1)?.body ?? '';
  expect(body).toContain('Echo: steeped');
  expect(body).toContain('Oolong and Assam');
  await picture('official');
});

/**
 * The files with this text among everything that the editor's server has written (logs, conversations, settings) and in
 * the workspace.
 */
async function filesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of [workbench.dataFolder, workbench.folder]) {
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const file of files.filter((one) => one.isFile())) {
      const path = join(file.parentPath, file.name);
      const content = await readFile(path).catch(() => Buffer.alloc(0));
      if (content.includes(text)) found.push(path);
    }
  }
  return found;
}
