// The page in German: all its texts come from the bundle.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();

test('welcome, footer and composer are German', async () => {
  const file = resolve(import.meta.dirname, '../../../media/l10n/bundle.l10n.de.json');
  const alone = await open({ bundle: JSON.parse(await readFile(file, 'utf8')) as Record<string, string> });
  await alone.show({ others: [{ id: 'b', title: 'Teekarte', activity: 'approval' }] });
  const { page } = alone;
  await page.getByText('Hallo, ich bin Earshot.').waitFor();
  await page.getByRole('button', { name: 'Eine andere Unterhaltung braucht Sie: Teekarte' }).waitFor();
  await page.getByRole('button', { name: 'Freigaben: Bei Änderungen fragen' }).click();
  await page.getByRole('menuitemradio', { name: 'Alles freigeben' }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('de');
  await alone.pictures('german');
  expect(await alone.violations()).toEqual([]);
});
