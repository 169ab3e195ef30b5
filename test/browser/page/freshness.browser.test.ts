// The ring beside the meter and its list of files, on the page alone.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type FileFreshness } from '../../../src/protocol/page/freshnessView.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();

const meter = { context: 0.42, tokens: 52_000, notificationTokens: 800, cost: 0.1234 };
const counts = { current: 8, reported: 1, pending: 1, unshown: 1, deleted: 1 };
const at = new Date(Date.now() - 60_000).toISOString();
const file = (path: string, state: FileFreshness['state'], more: Partial<FileFreshness> = {}): FileFreshness => ({
  ...{ path, state, notified: 'no', at, seen: 'a', now: 'b' },
  ...more,
});
const files = [
  file('src/receipt.ts', 'current'),
  file('src/cart.ts', 'reported', { notified: 'delivered' }),
  file('src/menu.ts', 'pending', { notified: 'pending', lines: [[1, 80]] }),
  file('src/a/very/long/path/that/does/not/fit/into/the/panel/order.ts', 'unshown', {
    notified: 'delivered',
    updatable: true,
  }),
  file('src/typed.ts', 'unreported', { unsaved: true, updatable: true, lines: [] }),
  file('src/old.ts', 'deleted', { notified: 'delivered', moved_to: 'src/new.ts' }),
  file('.env', 'withheld', { reason: '.env is protected.' }),
  file('src/earlier.ts', 'forgotten'),
];

test('the ring says in words how many files are current, and opens the list with what the model has of each', async () => {
  const alone = await open();
  const { page, show, send, change, waitFor } = bound(alone);
  // Another file of this worker may have set it.
  await page.clock.setFixedTime(new Date());
  await show({ meter, freshness: null });
  expect(await page.locator('.freshness').count()).toBe(0);
  await show({ meter, freshness: counts });
  const ring = page.getByRole('button', { name: /^Files in the context:/ });
  expect(await ring.textContent()).toBe(
    'Files in the context: 8 current 1 changed and reported 1 changed, report pending 1 changed, not shown whole 1 deleted9/11',
  );
  expect(await ring.getAttribute('title')).toContain('Counted are the changes that were noticed');
  const before = await page.locator('.composer').boundingBox();
  await ring.press('Enter');
  expect(await waitFor('read_freshness')).toEqual({ type: 'read_freshness' });
  const panel = page.getByRole('dialog', { name: 'What the model knows' });
  await panel.getByText('Comparing files…').waitFor();
  await send({ type: 'freshness', files });
  await panel.getByText('5 of 7 files differ from what the model knows.').waitFor();
  const rows = await panel.locator('.freshness-file:visible').allInnerTexts();
  const time = new Date(at).toLocaleString('en-US', { timeStyle: 'short' }).replaceAll('\u202f', ' ');
  expect(rows.map((row) => row.replaceAll('\u202f', ' ').split(/\s*\n\s*/))).toEqual([
    ['.env', 'May not be read now', expect.stringContaining('All of it as of')],
    ['src/old.ts', 'Renamed to src/new.ts · reported', expect.any(String), 'Show difference'],
    ['src/typed.ts', 'Changed, not reported · unsaved', `Parts as of ${time}`, 'Show difference', 'Update'],
    [expect.stringContaining('order.ts'), 'Changed, not shown whole', expect.any(String), 'Show difference', 'Update'],
    ['src/menu.ts', 'Changed, report pending', `Lines 1–80 as of ${time}`, 'Show difference'],
  ]);
  await panel.getByText('1 file no longer in the context').waitFor();
  await panel.getByText('2 current files').click();
  await panel.getByText('src/cart.ts').waitFor();
  expect(await page.locator('.composer').boundingBox()).toEqual(before);
  await alone.pictures('freshness');
  expect(await alone.violations()).toEqual([]);

  await panel.getByRole('button', { name: 'Show difference: src/menu.ts' }).press('Enter');
  expect(await waitFor('open_known_difference')).toMatchObject({ path: 'src/menu.ts' });
  await panel.getByRole('button', { name: 'Update: src/typed.ts' }).click();
  expect(await waitFor('update_files')).toMatchObject({ paths: ['src/typed.ts'] });
  await panel.getByRole('button', { name: 'Update all' }).click();
  expect(await waitFor('update_files')).toEqual({ type: 'update_files' });
  // Compared again while the list is open, since nobody may report a change; and when the log has more.
  await waitFor('read_freshness');
  await send({ type: 'freshness', files: [file('src/receipt.ts', 'unreported'), ...files.slice(1)], older: 1234 });
  await panel.getByText('6 of 7 files differ from what the model knows.').waitFor();
  await panel.getByText('and 1,234 older files, which are not compared').waitFor();
  await change({ type: 'head', head: { freshness: { ...counts, pending: 2, unshown: 0 } } });
  await waitFor('read_freshness');
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  expect(await page.locator(':focus').textContent()).toContain('Files in the context');
});

test('the list is in German', async () => {
  const bundle = JSON.parse(
    readFileSync(resolve(import.meta.dirname, '../../../media/l10n/bundle.l10n.de.json'), 'utf8'),
  ) as Record<string, string>;
  const alone = await open({ bundle });
  const { page, show, send } = bound(alone);
  await show({ meter, freshness: counts });
  await page.getByRole('button', { name: /^Dateien im Kontext:/ }).click();
  await send({ type: 'freshness', files });
  const panel = page.getByRole('dialog', { name: 'Was das Modell kennt' });
  await panel.getByText('5 von 7 Dateien sind anders, als das Modell sie kennt.').waitFor();
  await panel.getByText('Geändert, nicht ganz gezeigt').waitFor();
  await alone.picture('freshness-german');
});

function bound(alone: Awaited<ReturnType<typeof open>>) {
  return {
    page: alone.page,
    show: alone.show.bind(alone),
    send: alone.send.bind(alone),
    change: alone.change.bind(alone),
    waitFor: alone.waitFor.bind(alone),
  };
}
