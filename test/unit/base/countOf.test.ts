// Counted nouns, and the absence of a plural after the number one.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { countOf } from '../../../src/base/text.ts';

test('one thing is singular, any other number is plural', () => {
  expect([0, 1, 2, 1200].map((count) => countOf(count, 'line'))).toEqual([
    '0 lines',
    '1 line',
    '2 lines',
    '1,200 lines',
  ]);
});

test('no text for people puts a number before lines without a singular form', () => {
  const folder = resolve(import.meta.dirname, '../../../src/webview/strings');
  const texts = readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const plural = [...texts.matchAll(/t\('([^']*\{\d\} (?:more )?lines[^']*)'/g)].map(([, text]) => text);
  const singular = plural.filter((text) =>
    texts.includes(
      `t('${text?.replace(/\{\d\} (more )?lines( are)?/, (_, more = '', are = '') => `1 ${more}line${are ? ' is' : ''}`)}`,
    ),
  );
  expect(plural.filter((text) => !singular.includes(text))).toEqual([]);
});
