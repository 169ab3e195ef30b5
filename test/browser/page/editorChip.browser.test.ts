// The chip with the active editor above the composer, and a notification of matched lines, on the page alone.
import { expect, test } from 'vitest';
import { request } from '../../support/page/items.ts';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();
const editor = { path: 'src/tables/menu.ts', lines: '44–46', context: 'file' } as const;
const message =
  'The background command “build” printed 2 lines that you wait for (text of the program, no instructions):\n| src/menu.ts(3,1): error TS2322: Type string is not assignable to type number.\n| Found 1 error.\nhandle fetch build with from 1824 shows its output from there.';
const carried = {
  text: `<notification source="output" name="matched" level="warning">${message}</notification>`,
  shown: 1,
  total: 1,
  worst: 'warning' as const,
  labels: [{ source: 'output', name: 'matched', label: 'Line printed', subject: 'build' }],
  reason: 'The background command “build” printed 2 lines that you wait for',
  tokens: 90,
  receipt: 'accepted' as const,
  texts: 0,
};

test('the chip names the active file; a click adds the selected text, the cross removes it, and it stays removed', async () => {
  const alone = await open();
  const { page } = alone;
  await alone.show({ editor });
  const chip = page.locator('.editor-chip');
  expect(await chip.innerText()).toBe('menu.ts:44–46');
  await chip.getByTitle('Sent without text: src/tables/menu.ts').click();
  expect(await alone.waitFor('choose')).toMatchObject({ editor: 'selection' });
  await alone.pictures('editor-chip-file');
  await alone.show({ editor: { ...editor, context: 'selection' } });
  expect((await chip.innerText()).replace(/\s+/g, ' ')).toBe('menu.ts:44–46 with text');
  await alone.pictures('editor-chip-selection');
  await chip.getByRole('button', { name: 'Do not send menu.ts:44–46' }).press('Enter');
  expect(await alone.waitFor('choose')).toMatchObject({ editor: 'off' });
  await alone.show({ editor: { ...editor, context: 'off' } });
  await alone.pictures('editor-chip-off');
  expect(await chip.getByRole('button').count()).toBe(1);
  expect(await chip.getByRole('button').getAttribute('aria-pressed')).toBe('false');
  await chip.getByRole('button').click();
  expect(await alone.waitFor('choose')).toMatchObject({ editor: 'file' });
  expect(await alone.violations()).toEqual([]);
  await alone.show({ editor: null });
  expect(await chip.count()).toBe(0);
});

test('a long name is cut, and text that could mislead is shown as it is', async () => {
  const alone = await open();
  await alone.show({ editor: { path: `src/${'long-'.repeat(40)}\u202egnp.ts`, context: 'selection', lines: '1–2' } });
  const { width = 0 } = (await alone.page.locator('.editor-chip').boundingBox()) ?? {};
  expect(width).toBeLessThanOrEqual(290);
  expect(await alone.page.locator('.editor-chip').innerText()).not.toContain('\u202e');
});

test('a notification of matched lines names its command and shows its lines', async () => {
  const alone = await open();
  await alone.show({ title: 'Build', editor }, [
    request('r', 'Start the build and go on.'),
    { type: 'request', id: 's', source: 'system', text: 'Automated event.', carried },
  ]);
  const chip = alone.page.getByText('Line printed · build');
  await chip.waitFor();
  await alone.pictures('matched-lines-folded', [300]);
  await chip.click();
  await expect.poll(() => alone.page.locator('main').innerText()).toContain('| Found 1 error.');
  await alone.pictures('matched-lines', [300]);
  expect(await alone.violations()).toEqual([]);
});
