// The German translation: every UI string has one, with the same placeholders, and nothing is left over.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { translatableTexts } from '../support/l10n/translatable.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (file: string) => JSON.parse(readFileSync(resolve(root, file), 'utf8')) as Record<string, string>;
const german = read('media/l10n/bundle.l10n.de.json');
const placeholders = (text: string) => [...text.matchAll(/\{\d\}/g)].map(([one]) => one).sort();

test('every string of the page and of the window is translated, and every translation is used', () => {
  const texts = translatableTexts();
  expect(texts.length).toBeGreaterThan(400);
  expect(texts.filter((text) => german[text] === undefined)).toEqual([]);
  const used = new Set(texts);
  expect(Object.keys(german).filter((text) => !used.has(text))).toEqual([]);
});

test('translations have the placeholders of the original', () => {
  const wrong = Object.entries(german).filter(
    ([english, translated]) => placeholders(english).join() !== placeholders(translated).join(),
  );
  expect(wrong).toEqual([]);
});
