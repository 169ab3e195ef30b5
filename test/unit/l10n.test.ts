// The German translation: every UI string has one, with the same placeholders, and none is unused.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { contributedTexts, translatedTexts } from '../../src/vscode/contributions/manifest.ts';
import { translatableTexts } from '../support/l10n/translatable.ts';
import { untranslatedTexts } from '../support/l10n/untranslated.ts';

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

test('a text that ends with an ellipsis ends with one in German, after a space', () => {
  const all = Object.entries({ ...german, ...read('src/vscode/contributions/german.json') });
  const ellipses = all.filter(([english]) => /[^ ]…$/.test(english));
  expect(ellipses.length).toBeGreaterThan(10);
  expect(ellipses.filter(([, text]) => !/[^ ] …$/.test(text))).toEqual([]);
});

test('every text of commands, settings, views and the walkthrough is translated, and every translation is used', () => {
  const contributed = read('src/vscode/contributions/german.json');
  const texts = new Set(Object.values(JSON.parse(contributedTexts()) as Record<string, string>));
  expect([...texts].filter((text) => contributed[text] === undefined)).toEqual([]);
  expect(Object.keys(contributed).filter((text) => !texts.has(text))).toEqual([]);
  // Code, links to settings and links to commands must be the same in both languages.
  const marks = (text: string) => (text.match(/`[^`]*`|\]\(command:[^)]*\)/g) ?? []).sort().join(' ');
  expect(Object.entries(contributed).filter(([english, text]) => marks(english) !== marks(text))).toEqual([]);
  expect(readFileSync(resolve(root, 'package.nls.de.json'), 'utf8')).toBe(translatedTexts(contributed));
});

test('no sentence of the window is shown without translation', () => {
  // These texts are for the model or another program, or are names.
  const meant = [
    /^chat\/backgroundCommands\.ts: Look at the background command/,
    /^completions\/commitMessage\.ts: Write a Git commit message/,
    /^mcp\/mcpWindow\.ts: The MCP server “…” says about its tools/,
    /^mcp\/signInWindow\.ts: Not found$/,
    /^plugins\/pluginsController\.ts: Earshot Plugin: …$/,
  ];
  const isTable = (text: string) => german[text.replace(/^[^:]+: /, '')] !== undefined;
  const found = untranslatedTexts().filter((text) => !isTable(text) && !meant.some((one) => one.test(text)));
  expect(found).toEqual([]);
});
