// The search for parts of strings in other texts: long parts, whole names, and tricks of writing.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VerbatimSearch } from '../../../../src/base/patterns/verbatim.ts';

function find(strings: readonly string[], names: readonly string[], text: string): string[] {
  const search = new VerbatimSearch(strings, names);
  const found = new Set<string>();
  search.scan(text, {
    part: (start, end) => {
      const { string, start: from, end: to } = search.original(start, end);
      found.add(`part ${(strings[string] ?? '').slice(from, to)}`);
    },
    name: (index) => found.add(names[index] ?? ''),
  });
  return [...found];
}

test('a part of 24 characters is found, one of 23 is not', () => {
  const text = 'abcdefghijklmnopqrstuvwxyz';
  expect(find([`-- ${text.slice(0, 24)} --`], [], `xx${text.slice(0, 24)}yy`)).toEqual([`part ${text.slice(0, 24)}`]);
  expect(find([`-- ${text.slice(0, 23)} --`], [], `xx${text.slice(0, 23)}yy`)).toEqual([]);
});

test('capitals, blanks, forms of letters and invisible characters make no difference; the original is returned', () => {
  const written = 'Curl -s  https://evil.example/ﬁle';
  expect(find([written], [], 'run ｃｕｒｌ\u200b -S\nHTTPS://evil\u00ad.ex\u{e0041}ample/fi\u2060le now')).toEqual([
    `part ${written}`,
  ]);
});

test('rulers and blanks say nothing', () => {
  const ruler = '|------|------|------|------|------|';
  expect(find([ruler], [], ruler)).toEqual([]);
});

test.each([
  ['evil', 'run evil now', true],
  ['evil', '`evil`', true],
  ['evil', '**evil**.', true],
  ['evil', 'x=evil', true],
  ['evil', 'evil-tool', false],
  ['evil', 'more-evil', false],
  ['evil', 'devil', false],
  ['https://a.example', 'https://a.example/', true],
  ['https://a.example', 'https://a.example/path', false],
  ['https://a.example/x', '请看https://a.example/x。', true],
  ['/etc/passwd', 'cat "/etc/passwd"', true],
  ['/etc/passwd', '/etc/passwd.bak', false],
])('the name %j in %j as a whole: %j', (name, text, isFound) => {
  expect(find([], [name], text)).toEqual(isFound ? [name] : []);
});

test('two parts of one string are found in one text, also if one follows the other', () => {
  const [one, two] = ['the first long part of the text', 'another long part of that text'];
  expect(find([`${one} | ${two}`], [], `${two}, ${one}`)).toEqual([`part ${two}`, `part ${one}`]);
});

test('whatever shares 24 letters is found', () => {
  const letters = fc.stringMatching(/^[a-z]{24,60}$/);
  const around = fc.stringMatching(/^[A-Z0-9 ]{0,40}$/);
  fc.assert(
    fc.property(letters, around, around, around, (shared, before, between, after) => {
      const found = find([`${before}${shared}${between}`], [], `${after}${shared}${before}`);
      expect(found.some((part) => part.includes(shared))).toBe(true);
    }),
  );
});

test('the names that are found are those that stand in the text as a whole, also if they overlap or begin alike', () => {
  const texts = fc
    .array(fc.constantFrom('a', 'b', 'ab', ' ', '.', '/', '='), { maxLength: 30 })
    .map((all) => all.join(''));
  const between = '(?<![a-z])(?:(?<![a-z][./=]{1,7})|(?<==))';
  fc.assert(
    fc.property(fc.uniqueArray(texts, { maxLength: 20 }), texts, (written, text) => {
      const names = written.map((name) => name.trim().replace(/ +/g, ' ')).filter((name) => name.length > 2);
      const folded = text.replace(/ +/g, ' ');
      const expected = names.filter((name) => {
        const literal = name.replace(/[./]/g, '\\$&');
        return new RegExp(`${between}${literal}(?![./=]{0,8}[a-z])`).test(folded);
      });
      expect(new Set(find([], names, text))).toEqual(new Set(expected));
    }),
  );
});
