// Pictures of what a day of use found confusing, for manual inspection: each state at 300 px in four themes, without
// findings of the accessibility checker. Only in `npm run test:full`.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Frame, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findViolations } from '../../support/accessibility.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from '../../support/models/scriptedServer.ts';
import { takePicture } from '../../support/pictures.ts';
import { isFull } from '../../support/runs.ts';
import { useWorkbench, Workbench } from '../../support/workbench.ts';

const THEMES = {
  dark: 'Default Dark Modern',
  light: 'Default Light Modern',
  'contrast-dark': 'Default High Contrast',
  'contrast-light': 'Default High Contrast Light',
};
const WIDTH = 300;

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.stop());

const workbench = useWorkbench(async () => ({
  settings: { 'earshot.baseUrl': server.baseUrl, 'earshot.model': 'scripted-model' },
}));

beforeEach(async () => {
  server.restart();
  await workbench.openChat();
  await workbench.reset();
  await narrow(workbench.page);
});

const done: ScriptedAnswer = { text: ['That is done.'] };
let number = 0;
const call = (name: string, values: object) => ({ id: `p${++number}`, name, arguments: { ...values } });

/** Drags the border of the side bar with the chat until the chat is as narrow as a small side bar. */
async function narrow(page: Page): Promise<void> {
  const frame = page.locator('.part.auxiliarybar');
  const box = await frame.boundingBox();
  if (box === null || Math.abs(box.width - WIDTH) < 2) return;
  const border = box.x - 2;
  await page.mouse.move(border, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(border + box.width - WIDTH, box.y + 300, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(10, 10);
}

async function chatFrame(page: Page): Promise<Frame> {
  const handle = await page.frameLocator('iframe.webview').locator('#active-frame').elementHandle();
  const frame = await handle.contentFrame();
  if (frame === null) throw new Error('the chat has no frame');
  return frame;
}

/** Takes a picture in each theme. */
async function pictures(name: string, page = workbench.page, of = workbench): Promise<void> {
  for (const [theme, id] of Object.entries(THEMES)) {
    await of.setTheme(id);
    const frame = await chatFrame(page);
    const bodyClass = `vscode-${theme.replace('contrast', 'high-contrast').replace(/contrast-dark$/, 'contrast')}`;
    await expect.poll(() => frame.evaluate(() => document.body.className.split(' '))).toContain(bodyClass);
    await takePicture(`after-${name}-${theme}`, page);
    expect.soft(await findViolations(frame), `${name} ${theme}`).toEqual([]);
  }
}

const card = (title: string | RegExp) => workbench.card(title);
const approve = (title: string | RegExp) => card(title).getByRole('button', { name: 'Approve' });

async function choose(entry: string | RegExp): Promise<void> {
  await workbench.chat().locator('.footer-button').nth(2).click();
  await workbench.chat().getByRole('menu').getByText(entry).click();
}

async function open(name: string): Promise<void> {
  await workbench.startCommand('Go to File...');
  await workbench.page.keyboard.type(name);
  await workbench.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: name }).first().click();
  await workbench.page.locator('.tab.active', { hasText: name }).waitFor();
}

test.runIf(isFull)('1: the rules that widen the mode, and a mode that asks all the same', async () => {
  const edit = (path: string) => call('write_file', { path, content: 'Tea\nCake\n' });
  server.script({ calls: [edit('rule-one.txt')] }, done);
  await workbench.say('Write the menu.');
  await card('Write rule-one.txt').getByRole('button', { name: 'Always' }).click();
  await pictures('01-always');
  await workbench.chat().getByRole('menuitem', { name: 'Always in this conversation' }).click();
  await workbench.settled();
  await workbench.chat().getByText('+ 1 rule').waitFor();
  await pictures('01-footer');
  await choose('Always rules (1)…');
  await workbench.page.locator('.quick-input-list .monaco-list-row').first().waitFor();
  await pictures('01-rules');
  await workbench.page.keyboard.press('Escape');
  await workbench.chat().locator('.footer-button').nth(2).click();
  await workbench.chat().getByRole('menu').waitFor();
  await pictures('01-modes');
  await workbench.page.keyboard.press('Escape');
  await choose('Ask always');
  server.script({ calls: [edit('rule-two.txt')] }, done);
  await workbench.say('And once more.');
  await approve('Write rule-two.txt').waitFor();
  await pictures('01-asks');
  await card('Write rule-two.txt').getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
  await choose('Ask for changes');
});

test.runIf(isFull)('2: several approvals at once', async () => {
  const names = ['one.ts', 'two.ts', 'three.ts', 'four.ts'];
  const calls = names.map((name) => call('write_file', { path: `src/${name}`, content: 'export const a = 1;\n' }));
  server.script({ calls: [...calls, call('delete_file', { path: 'README.md' })] }, done);
  await workbench.command('Earshot: New Chat');
  await workbench.say('Go on.');
  await workbench.chat().locator('.pinned').getByText('5 approvals needed.').waitFor();
  await pictures('02-several');
  await workbench.chat().locator('.pinned').getByRole('button', { name: 'Reject All' }).click();
  await workbench.settled();
});

const PATCH = [
  '*** Begin Patch',
  '*** Update File: prices.txt',
  '@@',
  ' Assam 3',
  '-Oolong 4',
  '+Oolong 5',
  ' Mate 2',
  '*** End Patch',
].join('\n');

test.runIf(isFull)('3: an overwrite, a deletion and a patch in the side bar', async () => {
  const { folder } = workbench;
  await writeFile(join(folder, 'menu.txt'), 'Tea\nCoffee\nMilk\nSugar\nBiscuits\n');
  await writeFile(join(folder, 'prices.txt'), 'Assam 3\nOolong 4\nMate 2\n');
  server.script(
    { calls: [call('read_file', { path: 'menu.txt' })] },
    { calls: [call('write_file', { path: 'menu.txt', content: 'Tea\nCoffee.\n' })] },
    { calls: [call('delete_file', { path: 'menu.txt' })] },
    { calls: [call('apply_patch', { input: PATCH })] },
    done,
  );
  await workbench.say('Shorten the menu.');
  await approve('Write menu.txt').waitFor();
  await pictures('03-overwrite');
  await approve('Write menu.txt').click();
  await approve('Delete menu.txt').waitFor();
  await pictures('03-deletion');
  await card('Delete menu.txt').getByRole('button', { name: 'Reject' }).click();
  const patch = card(/prices\.txt/);
  await patch.getByRole('button', { name: 'Approve' }).waitFor();
  // With the lines around the change, and what it removes.
  for (const line of ['Assam 3', 'Oolong 4', 'Oolong 5', 'Mate 2']) await patch.getByText(line).first().waitFor();
  await pictures('03-patch');
  await patch.getByRole('button', { name: 'Reject' }).click();
  await workbench.settled();
  await pictures('03-done');
});

test.runIf(isFull)('6: lines of the user below those of Earshot', async () => {
  const path = join(workbench.folder, 'teas.txt');
  await writeFile(path, 'one\ntwo\nthree\nfour\n');
  server.script(
    { calls: [call('read_file', { path: 'teas.txt' })] },
    { calls: [call('write_file', { path: 'teas.txt', content: 'one\nTWO\nthree\nfour\nfive\nsix\n' })] },
    done,
  );
  await workbench.say('Add teas.');
  await approve('Write teas.txt').click();
  await workbench.settled();
  await writeFile(path, `${await readFile(path, 'utf8')}mine\nmine too\n`);
  await open('teas.txt');
  await workbench.page.locator('.view-line').getByText('mine too').waitFor();
  const list = await workbench.openList('Changed files');
  await list.getByText('teas.txt').waitFor();
  await pictures('06-lines');
  await list.locator('.changes-name', { hasText: 'teas.txt' }).click();
  await workbench.page.locator('.monaco-diff-editor .view-line').getByText('six').first().waitFor();
  await pictures('06-review');
  await workbench.command('Earshot: Keep All Changes');
});

/** Which of composer, footer and the last lines of the transcript is not inside of the window and the chat. */
async function whatIsHidden(): Promise<string[]> {
  const { width, height } = workbench.page.viewportSize() ?? { width: 0, height: 0 };
  const isInside = async (selector: string) => {
    const box = await workbench.chat().locator(selector).boundingBox();
    return box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
  };
  const hidden: string[] = [];
  for (const part of ['.composer', 'footer']) if (!(await isInside(part))) hidden.push(part);
  const frame = await chatFrame(workbench.page);
  const areLastWordsVisible = await frame.evaluate(() => {
    const end = [...document.querySelectorAll('.item')].at(-1)?.querySelector('p')?.getBoundingClientRect();
    const area = document.querySelector('.scroller')?.getBoundingClientRect();
    if (end === undefined || area === undefined) return false;
    const top = document.elementFromPoint(end.left + 4, end.bottom - 4);
    return end.bottom <= area.bottom && end.bottom - 16 >= area.top && top?.closest('.item') != null;
  });
  return areLastWordsVisible ? hidden : [...hidden, 'the last words'];
}

test.runIf(isFull)('12: the strip and its lists', async () => {
  const todo = ['Read the menu', 'Change the prices', 'Run the tests'].map((content, index) => ({
    text: content,
    state: index === 0 ? 'done' : 'open',
  }));
  server.script(
    {
      calls: [
        call('todo', { items: todo }),
        call('write_file', { path: 'src/tip.ts', content: 'export const tip = 1;\n' }),
        call('run_command', { command: 'echo boiling; sleep 600', background: true, handle: 'kettle' }),
        call('read_file', { path: 'src/menu.ts' }),
        call('wake_when', { name: 'tea-time', when: { after: '2h' }, or_after: '3h', note: 'Ask for the tea.' }),
      ],
    },
    { text: ['All five lists have something now.'] },
  );
  await workbench.say('Fill the lists.');
  await approve('Write src/tip.ts').click();
  await approve(/kettle|boiling/).click();
  await approve(/tea-time|Wake/).click();
  await workbench.settled();
  const menu = join(workbench.folder, 'src/menu.ts');
  await writeFile(menu, (await readFile(menu, 'utf8')).replace('\n', '\n// Changed by hand.\n'));
  await expect.poll(() => workbench.statusBar().innerText()).toMatch(/Earshot\s1/);
  await pictures('12-strip');
  for (const name of ['Background', 'Due', 'To-do', 'Changed files', 'Pending notifications']) {
    await workbench.openList(name);
    await pictures(`12-${name}`);
  }
  // The whole window at 200 %, and half a screen: with an open list, and without.
  for (const [name, width, height] of [['zoom', 640, 400] as const, ['half', 960, 540] as const]) {
    await workbench.page.setViewportSize({ width, height });
    await expect.poll(whatIsHidden).toEqual([]);
    await pictures(`12-${name}-list`);
    await workbench.openList('Pending notifications');
    const open = workbench.chat().getByRole('button', { name: /^Pending notifications/, expanded: true });
    await open.click();
    await expect.poll(whatIsHidden).toEqual([]);
    await pictures(`12-${name}`);
    await workbench.openList('Pending notifications');
  }
  await workbench.page.setViewportSize({ width: 1280, height: 800 });
});

test.runIf(isFull)('16: edit and resend, and the marks in the list of conversations', async () => {
  server.script({ calls: [call('write_file', { path: 'src/cup.ts', content: 'export const cup = 1;\n' })] }, done);
  await workbench.say('Add a cup.');
  await approve('Write src/cup.ts').click();
  await workbench.settled();
  server.script({ text: ['Two cups it is.'] });
  await workbench.transcript().locator('.request').first().hover();
  await workbench.transcript().getByRole('button', { name: 'Edit and resend' }).click();
  await workbench.page.keyboard.type(' Two, please.');
  await pictures('16-editing');
  await workbench.page.keyboard.press('Enter');
  await workbench.transcript().getByText('Two cups it is.').waitFor();
  await workbench.settled();
  await pictures('16-fork');
  await workbench.page.getByRole('button', { name: 'Show Conversations' }).first().click();
  await workbench.chat().locator('.conversation-row').first().waitFor();
  await pictures('16-list');
  await workbench.page.keyboard.press('Escape');
});

test.runIf(isFull)('17: Apply on a code block with one function', async () => {
  await writeFile(
    join(workbench.folder, 'src/bill.ts'),
    'export function total(prices: number[]) {\n  return prices.reduce((sum, one) => sum + one, 0);\n}\n\nexport function tip(sum: number) {\n  return sum * 0.1;\n}\n\nexport function split(sum: number, guests: number) {\n  return sum / guests;\n}\n',
  );
  server.script({
    text: [
      'Round the tip:\n\n```ts\nexport function tip(sum: number) {\n  return Math.round(sum * 10) / 100;\n}\n```\n',
    ],
  });
  await workbench.say('Round the tip in src/bill.ts.');
  await workbench.settled();
  await open('bill.ts');
  await workbench.transcript().locator('pre').hover();
  await pictures('17-block');
  await workbench.transcript().getByRole('button', { name: 'Apply to the open file, with preview' }).click();
  await workbench.page.locator('.monaco-diff-editor .line-insert').first().waitFor();
  await pictures('17-apply');
});

const FOLDERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  empty: {},
  python: { 'pyproject.toml': '[project]\nname = "shop"\n', 'shop/tea.py': 'LEAF = 1\n', 'tests/test_tea.py': '' },
  node: {
    'package.json': '{ "name": "shop", "scripts": { "test": "node --test" } }\n',
    'index.js': 'export const tea = 1;\n',
  },
  rust: { 'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\n', 'src/main.rs': 'fn main() {}\n' },
};

test.runIf(isFull).each([...Object.keys(FOLDERS), 'none'])('14: suggestions, folder: %s', async (name) => {
  const folder = join(dirname(workbench.folder), name);
  for (const [path, text] of Object.entries(FOLDERS[name] ?? {})) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await mkdir(folder, { recursive: true });
  const page = await workbench.newWindow(name === 'none' ? { noFolder: true } : { folder });
  await workbench.openChat(page);
  await workbench.chat(page).locator('.suggestion').first().waitFor();
  await narrow(page);
  await pictures(`14-${name}`, page);
  await page.close();
});

test.runIf(isFull)('14: suggestions, folder: untrusted', { timeout: 240_000 }, async () => {
  const untrusted = new Workbench();
  await untrusted.open({ untrusted: true });
  try {
    await untrusted.openChat();
    await untrusted.chat().locator('.suggestion').first().waitFor();
    await narrow(untrusted.page);
    await pictures('14-untrusted', untrusted.page, untrusted);
  } finally {
    await untrusted.close();
  }
});
