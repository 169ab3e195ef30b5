// The web chat in a real browser, served by the real plugin: a whole turn, reloads, tabs, a killed plugin, and a
// forwarded port. `npm test` runs only the turn; test/unit/webchat covers the rest without a browser.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Page } from 'playwright-core';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { findViolations } from '../../support/accessibility.ts';
import { startPathProxy } from '../../host/editor/pathProxy.ts';
import { atTestEnd, endAll } from '../../support/endings.ts';
import { TcpProxy } from '../../support/nats/tcpProxy.ts';
import { useBrowserOfPages } from '../../support/page/pageAlone.ts';
import { isFull } from '../../support/runs.ts';
import { createWebChatWorld, freshCode } from '../../support/webchat/webChatWorld.ts';

const pictures = resolve(import.meta.dirname, '../../../.build/screenshots/web');
const browserOfPages = useBrowserOfPages();
let problems: string[] = [];
beforeAll(async () => {
  await mkdir(pictures, { recursive: true });
});
afterEach(async () => {
  await endAll();
  const found = problems;
  problems = [];
  expect(found).toEqual([]);
});

async function openPage(address: string, width = 360): Promise<Page> {
  const context = await browserOfPages().newContext({ viewport: { width, height: 740 }, locale: 'en-US' });
  atTestEnd(() => context.close());
  const page = await context.newPage();
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(address);
  return page;
}

const say = async (page: Page, text: string) => {
  await page.getByRole('textbox', { name: 'Message' }).fill(text);
  await page.keyboard.press('Enter');
};

/** Takes pictures at three widths in both colour schemes, and one in high contrast. */
async function picture(page: Page, name: string): Promise<void> {
  if (!isFull) return;
  const before = page.viewportSize();
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [300, 390, 1200]) {
      await page.setViewportSize({ width, height: 740 });
      await page.screenshot({ path: join(pictures, `${name}-${scheme}-${width}.png`) });
    }
    expect((await findViolations(page.mainFrame())).map((line) => `${name} ${scheme}: ${line}`)).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 740 });
  await page.emulateMedia({ forcedColors: 'active' });
  await page.screenshot({ path: join(pictures, `${name}-contrast-390.png`) });
  await page.emulateMedia({ forcedColors: 'none' });
  if (before !== null) await page.setViewportSize(before);
}

test('a whole turn: streaming, an approval, a question, a notification as a chip, and the answer, in two tabs', async () => {
  const world = await createWebChatWorld({
    built: true,
    answers: [
      {
        text: ['I run ', 'a command.'],
        calls: [{ id: 'c1', name: 'run_command', arguments: { command: 'echo tea' } }],
      },
      {
        text: ['Now I ask.'],
        calls: [{ id: 'c2', name: 'ask_user', arguments: { question: 'Which tea?', options: ['Green', 'Black'] } }],
      },
      { text: ['**Green** tea ', 'it is.'], hang: true, tokens: { input_tokens: 100, output_tokens: 10 } },
    ],
  });
  const page = await openPage(`${world.origin}/#${freshCode()}`);
  await page.getByText('New Chat').waitFor();
  // No address that could be copied or shown contains the token.
  expect(page.url()).toBe(`${world.origin}/`);
  await picture(page, 'welcome');
  await say(page, 'Make tea.');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await picture(page, 'approval');
  // Under a path of another host, as code-server forwards ports.
  const proxy = await startPathProxy();
  atTestEnd(() => proxy.close());
  // The link of the editor names the conversation that it shows.
  const shown = await page.evaluate(() => sessionStorage.getItem('earshot.conversation'));
  const address = proxy.address(world.port, 'localhost');
  const second = await openPage(`${address}#${freshCode()}&${shown}`, 1200);
  expect(second.url()).toBe(address);
  await second.locator('.title-bar-folder').getByText('tea-shop').waitFor();
  await second.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Which tea?').first().waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
  await picture(page, 'question');
  const conversation = (await page.evaluate(() => sessionStorage.getItem('earshot.conversation'))) ?? '';
  const builder = await world.attach('builder', {});
  const notification = { kind: { name: 'failed' }, level: 'error', message: 'The task “build” failed.' };
  await builder.ask({ type: 'notify', ...notification, conversation });
  // After a reload the open question is shown again.
  await page.reload();
  await page.getByText('Which tea?').first().waitFor();
  await page.getByRole('radio', { name: 'Green' }).check();
  await page.getByRole('button', { name: 'Answer', exact: true }).click();
  for (const tab of [page, second]) await tab.getByText('it is.').waitFor();
  // Reloads in the middle of an answer.
  await page.reload();
  await page.getByText('it is.').waitFor();
  world.model.release();
  for (const tab of [page, second]) {
    await tab.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await tab.locator('.item').allInnerTexts()).toHaveLength(6);
  }
  expect(await page.locator('.item').allInnerTexts()).toEqual(await second.locator('.item').allInnerTexts());
  // The request with the answer delivered the notification to the model.
  await page.locator('.carried-chip').click();
  await page.locator('.carried-body').getByText('The task “build” failed.').waitFor();
  await picture(page, 'answer');
  // There is no Notifications view to show.
  await page.getByRole('button', { name: 'Context used:' }).click();
  const context = page.getByRole('dialog', { name: 'Context' });
  await context.getByText('Whole conversation').waitFor();
  expect(await context.getByRole('button').allInnerTexts()).toEqual(['']);
  expect(world.errors).toEqual([]);
});

const APPROVALS = [
  {
    id: 'edit',
    name: 'edit_file',
    arguments: { path: 'menu.txt', edits: [{ old_text: 'Milk', new_text: 'Oat milk' }] },
  },
  { id: 'write', name: 'write_file', arguments: { path: 'menu.txt', content: 'Coffee.\n' } },
  { id: 'delete', name: 'delete_file', arguments: { path: 'prices.txt' } },
  {
    id: 'patch',
    name: 'apply_patch',
    arguments: {
      input: [
        '*** Begin Patch',
        '*** Update File: prices.txt',
        ...['@@', ' Tea 2.00', '-Milk 0.50', '+Milk 0.60', ' Sugar 0.10'],
        '*** End Patch',
      ].join('\n'),
    },
  },
] as const;

test('an approval is the card of the side bar: what is lost, a deletion’s content, the context of an edit, *Always*', async () => {
  const world = await createWebChatWorld({
    built: true,
    answers: [
      {
        calls: ['menu.txt', 'prices.txt'].map((path) => ({
          id: `read ${path}`,
          name: 'read_file',
          arguments: { path },
        })),
      },
      ...APPROVALS.map((call) => ({ calls: [call] })),
      { calls: [{ id: 'next', name: 'write_file', arguments: { path: 'next.txt', content: 'Next.\n' } }] },
      { text: ['All done.'] },
    ],
  });
  const { folder } = world.headless;
  const menu = ['Tea', 'Coffee', 'Milk', 'Sugar', 'Biscuits'].join('\n');
  await writeFile(join(folder, 'menu.txt'), `${menu}\n`);
  const prices = 'Tea 2.00\nMilk 0.50\nSugar 0.10\n';
  await writeFile(join(folder, 'prices.txt'), prices);
  const page = await openPage(`${world.origin}/#${freshCode()}`, 390);
  await say(page, 'Change the menu.');
  const card = page.locator('.approval');
  const shows = async (...texts: readonly string[]) => {
    for (const text of texts) await expect.poll(() => card.innerText()).toContain(text);
  };
  await shows('Coffee', 'Milk', 'Oat milk', 'Sugar');
  await picture(page, 'approve-edit');
  await card.getByRole('button', { name: 'Approve' }).click();
  await shows('Oat milk', 'Biscuits', 'Coffee.');
  await picture(page, 'approve-overwrite');
  await card.getByRole('button', { name: 'Always' }).click();
  const choice = page.getByRole('menuitem', { name: 'Always in this conversation' });
  await choice.waitFor();
  if (isFull) await page.screenshot({ path: join(pictures, 'approve-always-390.png') });
  await choice.click();
  await shows('Tea 2.00');
  // After the approval, the card of the overwrite still shows what was lost.
  const overwritten = page.getByRole('region', { name: 'Write menu.txt' });
  if ((await overwritten.locator('.diff').count()) === 0) await overwritten.locator('.tool-head').click();
  for (const lost of ['Oat milk', 'Biscuits']) await overwritten.locator('.diff').getByText(lost).waitFor();
  await picture(page, 'done-overwrite');
  await picture(page, 'approve-deletion');
  await card.getByRole('button', { name: 'Reject' }).click();
  await shows('Milk 0.50', 'Milk 0.60', 'Tea 2.00', 'Sugar 0.10');
  await picture(page, 'approve-patch');
  await card.getByRole('button', { name: 'Reject' }).click();
  await page.locator('.item').getByText('All done.').first().waitFor();
  // The rule covers the next overwrite.
  expect(await readFile(join(folder, 'next.txt'), 'utf8')).toBe('Next.\n');
  expect(await readFile(join(folder, 'prices.txt'), 'utf8')).toBe(prices);
  expect(world.headless.ports.permissions.rules).toMatchObject([{ label: 'write_file' }]);
  // The footer says that the rule widens the mode, and its menu revokes it.
  const approvals = page.getByRole('button', { name: /^Approvals: .* \+ 1 rule/ });
  await approvals.click();
  const revoke = page.getByRole('menuitem', { name: /^Revoke “Always”: Write file/ });
  expect(await revoke.innerText()).toContain('Only in this conversation · since ');
  if (isFull) await page.screenshot({ path: join(pictures, 'rules-390.png') });
  await revoke.click();
  await approvals.waitFor({ state: 'detached' });
  expect(world.headless.ports.permissions.rules).toEqual([]);
  // Of the folder, given and revoked elsewhere.
  const rule = { rule: 'tool:delete_file', label: 'delete_file' };
  await world.headless.ports.permissions.add(rule);
  await page.reload();
  await approvals.click();
  expect(await page.getByRole('menuitem', { name: /^Revoke “Always”: Delete file/ }).innerText()).toContain(
    'In this folder',
  );
  await page.keyboard.press('Escape');
  await world.headless.ports.permissions.remove(rule);
  await page.reload();
  await approvals.waitFor({ state: 'detached' });
  expect(world.errors).toEqual([]);
});

test.runIf(isFull)(
  'a forwarded port, queue and interrupt, pending notifications, and a plugin that is killed and started again',
  async () => {
    const world = await createWebChatWorld({
      built: true,
      answers: [
        { text: ['Working on it.'], hang: true },
        { text: ['As you say.'], hang: true },
      ],
    });
    // Another port, as SSH and VS Code forward it: the browser sends that port in Host and Origin.
    const proxy = await TcpProxy.start(world.port);
    atTestEnd(() => proxy.close());
    const page = await openPage(`http://localhost:${proxy.port}/#${freshCode()}`);
    await say(page, 'Begin.');
    await page.getByText('Working on it.').waitFor();
    await say(page, 'Sugar, too.');
    await page.locator('.queued-chip').getByText('Sugar, too.').waitFor();
    const conversation = (await page.evaluate(() => sessionStorage.getItem('earshot.conversation'))) ?? '';
    const other = await world.attach('builder', {});
    const notification = { kind: { name: 'failed' }, level: 'error', message: 'The task “build” failed.' };
    await other.ask({ type: 'notify', ...notification, conversation });
    await page.getByRole('button', { name: 'Pending notifications 1' }).click();
    await page.locator('.drawer-open').click();
    await page.getByText('The task “build” failed.').first().waitFor();
    await picture(page, 'pending');
    // The network fails for a moment: the page says so and continues where it was.
    proxy.cut();
    await page.getByText('The connection to Earshot is lost.').waitFor();
    await picture(page, 'lost');
    proxy.open();
    await page.getByText('The connection to Earshot is lost.').waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Message' }).fill('Stop that, and this instead.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('As you say.').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('not sent yet');
    // The plugin is killed in the middle of the turn, which continues.
    const pid = world.host.pidOf('web-chat');
    expect(pid).toBeGreaterThan(0);
    process.kill(pid ?? 0, 'SIGKILL');
    await page.getByText('The connection to Earshot is lost.').waitFor();
    await expect.poll(() => world.host.pidOf('web-chat')).toBeUndefined();
    await world.startWebChat();
    await page.getByText('The connection to Earshot is lost.').waitFor({ state: 'detached' });
    await page.getByText('As you say.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('not sent yet');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(world.earshot.get(conversation)?.running).not.toBe(true);
  },
);

test.runIf(isFull)(
  'on a phone: an image is picked, a file found with @, model and mode chosen, a command stopped, a conversation renamed and deleted',
  async () => {
    const background = { command: 'echo boiling; sleep 600', background: true, handle: 'kettle' };
    const world = await createWebChatWorld({
      built: true,
      settings: { 'approvals.mode': 'all' },
      answers: [
        { calls: [{ id: 'c1', name: 'run_command', arguments: background }] },
        { text: ['A very small picture.'] },
      ],
    });
    await mkdir(join(world.headless.folder, 'src'), { recursive: true });
    await writeFile(join(world.headless.folder, 'src/menu.ts'), 'export const tea = 1;\n');
    const page = await openPage(`${world.origin}/#${freshCode()}`);
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach images' }).click();
    const icon = await readFile(resolve(import.meta.dirname, '../../../media/icon.png'));
    await (await choosing).setFiles({ name: 'tea.png', mimeType: 'image/png', buffer: icon });
    await page.locator('.attachment-preview').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).pressSequentially('@menu');
    await page.getByRole('option', { name: /menu\.ts/ }).waitFor();
    await picture(page, 'files');
    await page.keyboard.press('Enter');
    await page.locator('.attachment-chip', { hasText: 'src/menu.ts' }).waitFor();
    await picture(page, 'attachments');
    await page.getByRole('button', { name: /^Model: one/ }).click();
    await page.getByRole('menuitemradio', { name: /two/ }).waitFor();
    // A menu closes when the window is resized.
    await page.screenshot({ path: join(pictures, 'models.png') });
    await page.getByRole('menuitemradio', { name: /two/ }).click();
    await page.getByRole('button', { name: /^Model: two/ }).waitFor();
    await page.getByRole('button', { name: 'Mode: Agent' }).click();
    await page.getByRole('menuitemradio', { name: /Plan/ }).click();
    await page.getByRole('button', { name: 'Mode: Plan' }).waitFor();
    world.chosen.settings = {};
    await say(page, 'What is this?');
    await page.getByText('A very small picture.', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Background/ }).click();
    await picture(page, 'commands');
    await page.getByRole('button', { name: /^Stop .*kettle/ }).click();
    await page.getByRole('button', { name: /^Stop .*kettle/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Conversations' }).click();
    await page.getByRole('button', { name: /^Actions/ }).click();
    await page.screenshot({ path: join(pictures, 'actions.png') });
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByRole('textbox', { name: 'New title' }).fill('Small picture');
    await page.keyboard.press('Enter');
    await page
      .getByRole('button', { name: /Small picture/ })
      .first()
      .waitFor();
    page.on('dialog', (dialog) => {
      dialog.accept().catch((error: unknown) => problems.push(String(error)));
    });
    await page.getByRole('button', { name: /^Actions/ }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await expect.poll(() => world.headless.ports.store.list()).toMatchObject({ ok: true, value: [] });
    await page.screenshot({ path: join(pictures, 'deleted.png') });
    expect(world.errors).toEqual([]);
  },
);

test.runIf(isFull)('a page without the token, or with a wrong one, says what to do and shows nothing', async () => {
  const world = await createWebChatWorld({ built: true });
  for (const hash of ['', '#wrong-token']) {
    const page = await openPage(`${world.origin}/${hash}`);
    await page.getByText('Earshot does not accept this page.').waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
  }
});
