// The room in a small panel, on the page alone: with all five lists full, the composer and the last lines of the
// transcript stay visible, and one list at a time opens above them.
import { expect, test } from 'vitest';
import { type ChatHead } from '../../../src/protocol/webview.ts';
import { type TranscriptItem } from '../../../src/protocol/transcript.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

const file = (index: number) => ({
  path: `src/kitchen/course${index}.ts`,
  kind: 'changed' as const,
  added: 12,
  removed: 3,
  version: `v${index}`,
});

const full: Partial<ChatHead> = {
  handles: times(12, (index) => ({
    call: `h${index}`,
    name: `server-${index}`,
    command: 'npm run serve -- --port 8080',
    state: index === 0 ? ('running' as const) : ('failed' as const),
    detail: 'ended with exit code 1 after 3 s',
    output: 'listening\n',
  })),
  todo: times(15, (index) => ({
    text: `Rework course ${index} of the menu`,
    state: index < 12 ? ('done' as const) : ('open' as const),
  })),
  changes: { files: times(10, file), count: 120, added: 180, removed: 30, meanwhile: [file(11)], meanwhileCount: 1 },
  pending: {
    count: 130,
    worst: 'error',
    entries: times(10, (index) => ({
      source: 'file',
      name: 'changed',
      label: 'File changed',
      subject: `src/kitchen/course${index}.ts`,
      path: `src/kitchen/course${index}.ts`,
      ids: [`n${index}`],
      more: 0,
      level: 'error' as const,
      origin: 'editor' as const,
      at: '2026-01-01T00:00:00Z',
      count: 1,
      message: 'It changed.',
      tokens: 12,
    })),
  },
  heldBack: 'not_written',
  due: times(6, (index) => ({
    what: 'wake' as const,
    name: `stand-up ${index}`,
    timer: true,
    next: '2026-01-01T09:00:00Z',
    note: 'Summarise what changed.',
    facts: [],
    left: 1,
  })),
  controls: {
    mode: 'agent',
    approvals: 'edits',
    rules: 3,
    effort: { levels: ['low', 'high'], current: 'high' },
    sendKey: 'enter',
    currency: 'USD',
  },
  meter: { context: 0.92, tokens: 92_000, notificationTokens: 1200, cost: 12.5 },
  freshness: { current: 8, reported: 1, pending: 1, unshown: 1, deleted: 1 },
  editor: { path: 'src/kitchen/a-course-with-a-long-name.ts', lines: '44–46', context: 'selection' },
};

const answer = (id: string, text: string): TranscriptItem => ({
  type: 'answer',
  id,
  text,
  reasoning: '',
  streaming: false,
  truncated: false,
});
const items: TranscriptItem[] = [
  { type: 'request', id: 'r', source: 'user', text: 'Rework the menu.' },
  ...times(20, (index) => answer(`a${index}`, `Course ${index} is done.`)),
  answer('last', 'These are the last words.'),
];

/** The name and the tooltip of each button. */
const LISTS = {
  Background: ['Background 1', /^1 running · 11 ended\n/],
  Due: ['Due 6', /^6 timers and conditions are set\n/],
  'To-do': ['To-do 12/15', /^12 of 15 done$/],
  'Changed files': ['Changed files 99+', /^Earshot changed 120 files\./],
  'Pending notifications': ['Pending notifications 99+', /^130 pending notifications\n/],
} as const;

/** The panel in VS Code: the smallest one, a narrow side bar, a window at 200 %, half a screen, and the view that is left there. */
const SIZES = [
  [240, 320],
  [300, 600],
  [640, 400],
  [960, 540],
  [190, 210],
] as const;

/** The names of buttons whose contents are wider than they are. */
const crowded = (buttons: readonly Element[]) =>
  buttons
    .filter((button) => !button.matches('.footer-model') && button.scrollWidth > button.clientWidth)
    .map((button) => button.textContent);

test.each(SIZES)(
  'at %i × %i with five full lists, each opens alone, and composer and last words are visible',
  async (width, height) => {
    const alone = await open();
    const { page } = alone;
    await page.setViewportSize({ width, height });
    await alone.show({ title: 'x', ...full }, items);
    const isInside = async (selector: string) => {
      const box = await page.locator(selector).boundingBox();
      return box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
    };
    const lastWords = () =>
      page.evaluate(() => {
        const end = [...document.querySelectorAll('.item')].at(-1)?.querySelector('p')?.getBoundingClientRect();
        const area = document.querySelector('.scroller')?.getBoundingClientRect();
        if (end === undefined || area === undefined) return 'missing';
        const top = document.elementFromPoint(end.left + 4, end.bottom - 4);
        return end.bottom <= area.bottom && end.bottom - 16 >= area.top && top?.closest('.item') != null
          ? 'visible'
          : 'hidden';
      });
    const check = async () => {
      await alone.drawn();
      expect(await isInside('.composer')).toBe(true);
      expect(await isInside('footer')).toBe(true);
      await expect.poll(lastWords).toBe('visible');
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      expect(await page.locator(':is(.strip, .footer) button').evaluateAll(crowded)).toEqual([]);
    };
    await check();
    await alone.picture(`room-${width}x${height}`);
    for (const [region, [name, title]] of Object.entries(LISTS)) {
      const button = page.getByRole('region', { name: region, exact: true }).getByRole('button', { name, exact: true });
      expect(await button.getAttribute('title')).toMatch(title);
      await button.click();
      await check();
      const sheets = page.locator('.sheet:visible');
      expect(await sheets.count()).toBe(1);
      const { height: taken = height } = (await sheets.boundingBox()) ?? {};
      expect(taken).toBeLessThanOrEqual(height * 0.4);
      // Not an empty frame: at least a row is visible, and the rest can be scrolled to.
      expect(taken).toBeGreaterThanOrEqual(40);
      expect(await sheets.evaluate((sheet) => sheet.scrollHeight > sheet.clientHeight)).toBe(true);
      expect(await page.locator('.strip-button[aria-expanded="true"]').count()).toBe(1);
      expect(await button.getAttribute('aria-expanded')).toBe('true');
      expect(await alone.violations()).toEqual([]);
      await alone.picture(`room-${width}x${height}-${region}`);
    }
    await page.getByRole('button', { name: LISTS['Pending notifications'][0] }).click();
    expect(await page.locator('.sheet:visible').count()).toBe(0);
    await check();
  },
);

test('from the keyboard a list is opened with Tab and Enter; Escape closes it and returns the focus to its button', async () => {
  const alone = await open();
  const { page } = alone;
  await alone.show({ title: 'x', ...full }, items);
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await page.getByRole('button', { name: LISTS.Background[0] }).focus();
  for (const [name] of Object.values(LISTS).slice(1)) {
    await page.keyboard.press('Tab');
    expect(await focused()).toBe(name);
  }
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('region', { name: 'Pending notifications' });
  await drawer.getByText('File changed · src/kitchen/course0.ts').waitFor();
  await drawer.getByRole('button', { name: 'Mute: File changed · src/kitchen/course0.ts' }).press('Enter');
  await page.getByRole('menu').waitFor();
  // The menu closes first.
  await page.keyboard.press('Escape');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  expect(await page.locator('.sheet:visible').count()).toBe(1);
  await page.keyboard.press('Escape');
  expect(await page.locator('.sheet:visible').count()).toBe(0);
  expect(await focused()).toBe(LISTS['Pending notifications'][0]);
});

test('a list that appears while another one is open stays closed', async () => {
  const alone = await open();
  const sheets = alone.page.locator('.sheet:visible');
  await alone.show({ title: 'x', handles: full.handles ?? [] }, items);
  await alone.page.getByRole('button', { name: LISTS.Background[0] }).click();
  for (const head of [{ pending: full.pending }, { todo: full.todo }, { changes: full.changes }]) {
    await alone.change({ type: 'head', head: head as Partial<ChatHead> });
    await alone.drawn();
    expect(await sheets.count()).toBe(1);
    expect(await sheets.locator('.handle').count()).toBe(12);
  }
});

test('when the open list becomes empty, it closes, the focus goes to the composer, and the list stays closed', async () => {
  const alone = await open();
  const { page } = alone;
  await alone.show({ title: 'x', ...full }, items);
  const region = page.getByRole('region', { name: 'Background', exact: true });
  await region.getByRole('button', { name: LISTS.Background[0] }).click();
  await region.getByRole('button', { name: 'Remove server-3 from the list' }).press('Enter');
  await alone.waitFor('hide_handle');
  await alone.change({ type: 'head', head: { handles: [] } });
  await region.waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  await alone.change({ type: 'head', head: { handles: full.handles ?? [] } });
  await region.getByRole('button', { name: LISTS.Background[0], expanded: false }).waitFor();
});

test('without anything to list there is no strip, and whatever is above it, the composer is inside a small panel', async () => {
  const alone = await open();
  const { page } = alone;
  await page.setViewportSize({ width: 240, height: 320 });
  await alone.show({ title: 'x' }, items);
  expect(await page.locator('.strip').isVisible()).toBe(false);
  const text = 'The connection to the endpoint is lost, and it is tried again every few seconds until it answers. ';
  await alone.show(
    {
      title: 'x',
      ...full,
      running: true,
      obstacles: times(3, (index) => ({ level: 'warning' as const, text: `${index} ${text}`, nextStep: text })),
      queued: times(6, (index) => ({ id: `q${index}`, text, attachments: [] })),
      attachments: times(8, (index) => ({ id: `t${index}`, kind: 'file' as const, name: `course${index}.ts` })),
    },
    items,
  );
  await page.getByRole('textbox').fill('A long message.\n'.repeat(40));
  await page.getByRole('button', { name: LISTS['To-do'][0] }).click();
  await alone.drawn();
  for (const selector of ['.field', 'footer']) {
    const { y = 0, height = 0 } = (await page.locator(selector).boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y + height).toBeLessThanOrEqual(320);
  }
  expect(await alone.violations()).toEqual([]);
  await alone.picture('room-crowded');
});
