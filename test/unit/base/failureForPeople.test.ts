// Failures in words for people: without the names of arguments and tools that a model or a program needs.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { failureForPeople } from '../../../src/base/people/failureForPeople.ts';

const german = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../media/l10n/bundle.l10n.de.json'), 'utf8'),
) as Record<string, string>;
const fill = (text: string, values: readonly string[]) =>
  text.replace(/\{(\d)\}/g, (whole, index) => values[Number(index)] ?? whole);
const inEnglish = (text: string, ...values: readonly string[]) => fill(text, values);
const inGerman = (text: string, ...values: readonly string[]) => fill(german[text] ?? text, values);

test.each([
  [
    'the field of a request is left out',
    'attachments.0: the image is too large.',
    undefined,
    'The image is too large.',
  ],
  ['a next step for people is kept', 'No folder is open.', 'Open a folder.', 'No folder is open. Open a folder.'],
  ['a next step that names a tool is left out', 'a.txt is not there.', 'Call list_files first.', 'a.txt is not there.'],
  [
    'an address stays as it is',
    'http://127.0.0.1:1/v1 cannot be reached.',
    undefined,
    'http://127.0.0.1:1/v1 cannot be reached.',
  ],
  [
    'the name of a file stays as it is',
    'attachments.0: notes.txt is not a text file.',
    undefined,
    'notes.txt is not a text file.',
  ],
  ['a next step about the user is left out', 'Not trusted.', 'The user can trust it.', 'Not trusted.'],
  ['another word with an underscore is kept', 'Failed.', 'Set my_variable.', 'Failed. Set my_variable.'],
])('%s', (_, message, nextStep, expected) => {
  expect(failureForPeople({ code: 'other', message, ...(nextStep !== undefined && { nextStep }) }, inEnglish)).toBe(
    expected,
  );
});

test.each([
  [
    'not_open',
    'This conversation is not open.',
    'Open it first.',
    'Diese Unterhaltung ist nicht geöffnet. Öffnen Sie sie zuerst.',
  ],
  [
    'too_large',
    'attachments.0: tea.log is too long to be attached as a whole.',
    'Remove it and send again.',
    'tea.log ist zu lang, um ganz angehängt zu werden. Entfernen Sie das, und senden Sie noch einmal.',
  ],
  [
    'storage',
    'The conversation’s log cannot be written: ENOSPC.',
    'Free disk space, then send again. Nothing that is on disk is lost.',
    'Das Protokoll der Unterhaltung kann nicht geschrieben werden: ENOSPC. Geben Sie Speicherplatz frei, und senden Sie dann noch einmal. Was gespeichert ist, geht nicht verloren.',
  ],
  ['not_found', 'a.txt does not exist.', 'list_files shows what is there.', 'a.txt gibt es nicht.'],
] as const)('in a German window the failure %s is German', (code, message, nextStep, expected) => {
  expect(failureForPeople({ code, message, nextStep }, inGerman)).toBe(expected);
});

test('a sentence that is not known, such as a server’s, follows the German sentence of its code', () => {
  const failure = { code: 'key_refused', message: 'Nope, says the proxy.' } as const;
  expect(failureForPeople(failure, inGerman)).toMatch(/^[^.]*Schlüssel[^.]*\. Nope, says the proxy\.$/);
  expect(failureForPeople(failure, inEnglish)).toBe('Nope, says the proxy.');
});
