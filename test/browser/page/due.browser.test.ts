// The list of timers and conditions above the composer, on the page alone.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type DueView, type FollowedView } from '../../../src/protocol/page/handlesView.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();
const now = Date.now();
const timer: DueView = {
  what: 'wake',
  name: 'stand-up',
  timer: true,
  next: new Date(new Date(now).setHours(23, 59, 0, 0)).toISOString(),
  note: 'Summarise what changed since the last one.',
  facts: [],
  left: 1,
};
const condition: DueView = {
  what: 'wake',
  name: 'ready to deploy',
  timer: false,
  next: new Date(now + 3 * 86_400_000).toISOString(),
  note: '',
  when: {
    all: [
      { handle: 'build', is: 'ok' },
      {
        any: [
          { port: 3000, is: 'open' },
          { file: 'dist/server/main.js', is: 'exists' },
        ],
      },
      { output: 'server', has: 'listening' },
      { notified: 'git.head_changed' },
    ],
  },
  facts: [
    { truth: 'yes', evidence: 'ended with exit code 0 after 12 s' },
    { truth: 'no', evidence: 'nothing listens' },
    { truth: 'unknown', evidence: 'it cannot be read' },
    { truth: 'never', evidence: 'ended with exit code 1 after 3 s without printing it' },
    { truth: 'no', evidence: 'it has not come yet' },
  ],
};
const due = [timer, condition];

test('the list shows when each is due and the evidence of each part; both actions name their timer or condition', async () => {
  const alone = await open();
  const { page } = alone;
  // Another file of this worker may have set it.
  await page.clock.setFixedTime(now);
  await alone.show({ due });
  const list = page.getByRole('region', { name: 'Due' });
  const button = list.getByRole('button', { name: 'Due 2' });
  expect(await button.getAttribute('title')).toMatch(/^2 timers and conditions are set\nstand-up: Due: 11:59 PM/);
  await button.click();
  const [first, second] = [page.locator('.due-one').first(), page.locator('.due-one').last()];
  const text = async (row: typeof first) => (await row.innerText()).replace(/\s+/g, ' ');
  expect(await text(first)).toBe(
    'stand-up Due: 11:59 PM · once more at most Note: Summarise what changed since the last one.',
  );
  expect(await text(second)).toMatch(/^ready to deploy Until \w{3} \d+, \d{4}, \d+:\d\d [AP]M at the latest All of: /);
  expect(await second.locator('.due-atom').allInnerTexts()).toEqual([
    expect.stringMatching(/^Met:\s+build ends successfully · ended with exit code 0 after 12 s$/),
    expect.stringMatching(/^Not met:\s+Port 3000 is open · nothing listens$/),
    expect.stringMatching(/^Not known:\s+dist\/server\/main\.js exists · it cannot be read$/),
    expect.stringMatching(/^Cannot be met any more:\s+server prints “listening” · ended with exit code 1 after 3 s/),
    expect.stringMatching(/^Not met:\s+Notification: git\.head_changed · it has not come yet$/),
  ]);
  await alone.pictures('due');
  expect(await alone.violations()).toEqual([]);
  await first.getByRole('button', { name: 'Fire stand-up now' }).click();
  expect(await alone.waitFor('fire_due')).toEqual({ type: 'fire_due', name: 'stand-up' });
  await second.getByRole('button', { name: 'Cancel ready to deploy' }).click();
  expect(await alone.waitFor('cancel_due')).toEqual({
    ...{ type: 'cancel_due', what: 'wake' },
    name: 'ready to deploy',
  });
});

const lines: FollowedView = {
  ...{ what: 'lines', name: 'file:logs/app.log', title: 'logs/app.log' },
  waitsFor: ['error', '/^5\\d\\d /'],
  quiet: 600,
  wakes: { left: 20, until: new Date(now + 3 * 86_400_000).toISOString() },
};
const ofCommand: FollowedView = { what: 'lines', name: 'handle:server', title: 'server', waitsFor: ['ready in'] };
const events: FollowedView = {
  ...{ what: 'events', name: 'github/issue.updated', title: 'github/issue.updated', waitsFor: [] },
  wakes: { left: 1, until: new Date(new Date(now).setHours(23, 59, 0, 0)).toISOString() },
};
const others: FollowedView = { what: 'events', name: 's/push', title: 's/push', waitsFor: [] };

test('lines and events are listed with the wakes that the user has approved, and can be cancelled', async () => {
  const alone = await open();
  const { page } = alone;
  await page.clock.setFixedTime(now);
  await alone.show({ due: [timer, lines, ofCommand, events, others] });
  await page.getByRole('button', { name: 'Due 5' }).click();
  const rows = page.locator('.due-one');
  const text = async (index: number) => (await rows.nth(index).innerText()).replace(/\s+/g, ' ');
  expect(await text(1)).toMatch(
    /^logs\/app\.log Wakes the model at most 20 more times until \w{3} \d+.* Lines: error, \/\^5\\d\\d \/ Silence of 600 s$/,
  );
  expect(await text(2)).toBe('server Wakes the model, which runs this command Lines: ready in');
  expect(await text(3)).toBe(
    'github/issue.updated Wakes the model at most once more until 11:59 PM Events of an MCP server',
  );
  expect(await text(4)).toBe('s/push Does not start turns Events of an MCP server');
  // Only time and conditions can be fired.
  expect(await page.getByRole('button', { name: /^Fire / }).count()).toBe(1);
  await page.setViewportSize({ width: 300, height: 700 });
  const sheet = page.locator('#list-due');
  expect(await sheet.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  await alone.pictures('due-followed', [300, 420]);
  expect(await alone.violations()).toEqual([]);
  await page.getByRole('button', { name: 'Cancel logs/app.log' }).click();
  const { name } = lines;
  expect(await alone.waitFor('cancel_due')).toEqual({ type: 'cancel_due', what: 'lines', name });
});

test('by keyboard: the focus goes to the neighbour of what was cancelled, to the composer after the last, and Escape closes the list', async () => {
  const alone = await open();
  const { page } = alone;
  await alone.show({ due });
  const button = page.getByRole('button', { name: 'Due 2' });
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'));
  await button.press('Enter');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Fire stand-up now');
  await page.keyboard.press('Escape');
  expect(await button.getAttribute('aria-expanded')).toBe('false');
  expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await alone.waitFor('cancel_due')).toMatchObject({ name: 'stand-up' });
  await alone.change({ type: 'head', head: { due: [condition] } });
  await expect.poll(focused).toBe('Cancel ready to deploy');
  await page.keyboard.press('Enter');
  expect(await alone.waitFor('cancel_due')).toMatchObject({ name: 'ready to deploy' });
  await alone.change({ type: 'head', head: { due: [] } });
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  expect(await page.locator('.due').count()).toBe(0);
});

test('five buttons fit into a narrow panel, and long or misleading names stay inside', async () => {
  const alone = await open();
  const { page } = alone;
  const long = `${'long-'.repeat(38)}\u202egnp`;
  await alone.show({
    due: [{ ...condition, name: long, note: long, when: { file: `src/${long}`, is: 'changed' }, facts: [] }],
    handles: [{ call: 'h', name: 'build', command: 'npm run build', state: 'running', detail: 'running', output: '' }],
    todo: [{ text: 'Deploy', state: 'open' }],
    changes: { files: [], count: 1, added: 1, removed: 0, meanwhile: [], meanwhileCount: 0 },
    pending: { count: 3, worst: 'warning', entries: [] },
  });
  const buttons = page.locator('.strip-button');
  await page.getByRole('button', { name: 'Due 1' }).click();
  for (const width of [250, 300]) {
    await page.setViewportSize({ width, height: 700 });
    const boxes = await buttons.evaluateAll((all) => all.map((one) => one.getBoundingClientRect()));
    expect(boxes.length).toBe(5);
    expect(new Set(boxes.map(({ top }) => top)).size).toBe(1);
    expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThanOrEqual(width);
    // None is stretched.
    expect(Math.max(...boxes.map((box) => box.width))).toBeLessThan(60);
    const sheet = page.locator('#list-due');
    expect(await sheet.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
    expect(await sheet.innerText()).not.toContain('\u202e');
  }
  await alone.pictures('due-narrow', [250, 300]);
});

test('the list is German, evidence included', async () => {
  const file = resolve(import.meta.dirname, '../../../media/l10n/bundle.l10n.de.json');
  const alone = await open({ bundle: JSON.parse(await readFile(file, 'utf8')) as Record<string, string> });
  const { page } = alone;
  await alone.show({ due });
  await page.getByRole('button', { name: 'Fällig 2' }).click();
  const row = page.locator('.due-one').last();
  await row.getByText('nichts nimmt Verbindungen an').waitFor();
  const text = (await row.innerText()).replace(/\s+/g, ' ');
  for (const part of [
    'Spätestens bis ',
    'Alle von: Erfüllt: build endet erfolgreich · beendet mit Exitcode 0 nach 12 s',
    'Nicht erfüllt: Port 3000 ist offen',
    'Nicht bekannt: dist/server/main.js existiert · sie ist nicht lesbar',
    'server gibt „listening“ aus · beendet mit Exitcode 1 nach 3 s, ohne es auszugeben',
  ])
    expect(text).toContain(part);
  await row.getByRole('button', { name: 'ready to deploy jetzt auslösen' }).waitFor();
  await row.getByRole('button', { name: 'ready to deploy abbrechen' }).waitFor();
  await alone.pictures('due-german', [300]);
  expect(await alone.violations()).toEqual([]);
});
