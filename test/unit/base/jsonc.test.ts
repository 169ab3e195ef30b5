// JSON with comments and trailing commas; everything else is refused as in JSON.
import { expect, test } from 'vitest';
import { parseJsonc } from '../../../src/base/json/jsonc.ts';

test.each([
  ['{ "a": 1, /* b */ "c": [2, 3,], } // d', { a: 1, c: [2, 3] }],
  ['/* an open comment ends with the text: */ 1 /* x', 1],
  ['"// no comment, /* none either */"', '// no comment, /* none either */'],
])('%s is read', (text, value) => {
  expect(parseJsonc(text)).toEqual(value);
});

test.each(['1/2', '12/2', '1/', '/', '[1,,]', '{,}x'])('%s is refused', (text) => {
  expect(() => parseJsonc(text)).toThrow(SyntaxError);
});
