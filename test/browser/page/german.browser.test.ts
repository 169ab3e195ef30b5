// The page in German: all its texts come from the bundle.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { usePages } from '../../support/page/pageAlone.ts';

const open = usePages();

const german = async () => {
  const file = resolve(import.meta.dirname, '../../../media/l10n/bundle.l10n.de.json');
  return JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
};

test('welcome, footer and composer are German', async () => {
  const alone = await open({ bundle: await german() });
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

test('reasons of approvals and notices are German, and name the kind of a failure that has no translation', async () => {
  const alone = await open({ bundle: await german() });
  const { page } = alone;
  const failure = 'The endpoint reported an error.';
  await alone.show({ running: true }, [
    { type: 'request', id: 'r', source: 'user', text: 'Los.' },
    { type: 'notice', id: 'n', level: 'info', text: 'You restored a.txt.' },
    { type: 'notice', id: 'm', level: 'warning', text: 'Odd words.', failure, nextStep: 'Send again.' },
    {
      ...{
        type: 'tool',
        id: 't',
        name: 'run_command',
        arguments: { command: 'cat ../a' },
        state: 'approval',
        output: '',
      },
      approval: { reason: '../a is outside the workspace.' },
    },
  ]);
  await page.getByText('Grund der Frage: ../a liegt außerhalb des Arbeitsbereichs.').waitFor();
  await page.getByText('Sie haben a.txt wiederhergestellt.').waitFor();
  await page.getByText('Senden Sie erneut.').waitFor();
  expect(await page.getByText('Odd words.').innerText()).toMatch(/Endpunkt.+ Odd words\.$/);
  await alone.pictures('german-approval', [300]);
});

test('obstacles, a problem with a form and the state of a background command are German', async () => {
  const alone = await open({ bundle: await german() });
  const { page } = alone;
  await alone.show(
    {
      running: true,
      obstacles: [
        {
          level: 'warning',
          text: 'Line 3 of this conversation’s log is damaged (it is not JSON) and was left out; the rest is intact.',
          nextStep: 'The damaged line stays in the file unchanged. You can continue the conversation.',
        },
      ],
      handles: [
        {
          ...{ call: 'h', name: 'build', command: 'npm run build', state: 'failed', output: '' },
          detail: 'ended with exit code 1 after 3 s',
        },
      ],
    },
    [
      { type: 'request', id: 'r', source: 'user', text: 'Los.' },
      {
        ...{ type: 'tool', id: 't', name: 'ask_user', arguments: {}, state: 'question', output: '' },
        question: { id: 'q', text: 'Wie heißt er?', several: false, problem: '“Name” is required.' },
      },
    ],
  );
  await page.getByText('Zeile 3 im Protokoll dieser Unterhaltung ist beschädigt (sie ist kein JSON)').waitFor();
  await page.getByText('Die beschädigte Zeile bleibt unverändert in der Datei.').waitFor();
  await page.getByRole('alert').getByText('„Name“ ist erforderlich.').waitFor();
  await page.locator('.strip-button').first().click();
  await page.getByText('beendet mit Exitcode 1 nach 3 s').waitFor();
  await alone.pictures('german-problems', [300]);
  expect(await alone.violations()).toEqual([]);
});
