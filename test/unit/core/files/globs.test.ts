// Globs match what picomatch matches; unusable globs match nothing.
import fc from 'fast-check';
import picomatch from 'picomatch';
import { expect, test } from 'vitest';
import {
  compileGlob,
  GLOB_LIMIT,
  globKeyOf,
  keysFor,
  matchesAny,
  whyUnusable,
} from '../../../../src/core/files/globs.ts';

const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.', '-', 'ä'), minLength: 1, maxLength: 4 });
const path = fc
  .array(
    name.filter((one) => !/^\.{1,2}$/.test(one)),
    { minLength: 1, maxLength: 4 },
  )
  .map((names) => names.join('/'));
const part = fc.oneof(
  fc.constant('**'),
  fc
    .array(fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[^a]', '[a-c]', '{a,b}', '{a,b*,.c}'), {
      minLength: 1,
      maxLength: 4,
    })
    .map((pieces) => pieces.join(''))
    // `**` inside a name is left out: we treat it as `*`, as git does, and picomatch is inconsistent.
    .filter((one) => !one.includes('**') && !/^\.+$/.test(one)),
);
const glob = fc
  .array(part, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'))
  // Left out: picomatch matches `a` with `a/**`, but not with `*/**`.
  .filter((one) => !/[*?[{][^/]*\/\*\*$/.test(one));

test('for any glob and path the result equals that of picomatch', () => {
  fc.assert(
    fc.property(glob, fc.array(path, { minLength: 5, maxLength: 20 }), (pattern, paths) => {
      // Without its shortcuts: with them `*.*` requires a character after the dot, and no other glob does.
      const judge = picomatch(pattern, { dot: true, windows: false, fastpaths: false });
      const matches = compileGlob(pattern);
      expect(paths.filter((one) => matches(one))).toEqual(paths.filter((one) => judge(one)));
    }),
    { numRuns: 1000 },
  );
});

test('every path that a glob matches has a lookup key of that glob', () => {
  fc.assert(
    fc.property(glob, path, (pattern, one) => {
      fc.pre(compileGlob(pattern)(one));
      expect(keysFor(one)).toContainEqual(globKeyOf(pattern));
    }),
  );
});

test.each([
  ['src/{core,base}/**/*.{ts,tsx}', 'src/core/a/b.tsx', true],
  ['{src/core,test}/*.ts', 'src/core/a.ts', true],
  ['a{b,c{d,e}}f', 'acef', true],
  ['a{b}c', 'a{b}c', true],
  ['a\\*b', 'a*b', true],
  ['a\\*b', 'axb', false],
  ['./src/*.ts', 'src/a.ts', true],
  ['src/**', 'src', true],
  ['**/*', '.env', true],
])('%s over %s: %s', (pattern, one, expected) => {
  expect(compileGlob(pattern)(one)).toBe(expected);
});

test('a folder matches everything in it', () => {
  expect(matchesAny(['dist/', '**/*.snap'], 'dist/a/b.js')).toBe(true);
  expect(matchesAny(['dist/', '**/*.snap'], 'src/a.ts')).toBe(false);
});

test.each([
  ['', 'it is empty'],
  ['a'.repeat(GLOB_LIMIT + 1), 'it is longer than 1000 characters'],
  ['{a,b}'.repeat(7), 'its braces stand for more than 100 globs'],
])('an unusable glob matches nothing and gives a reason', (pattern, reason) => {
  expect(whyUnusable(pattern)).toBe(reason);
  if (pattern.length <= GLOB_LIMIT) expect(compileGlob(pattern)('a')).toBe(false);
});
