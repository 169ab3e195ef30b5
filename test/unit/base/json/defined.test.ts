import { expect, test } from 'vitest';
import { defined } from '../../../../src/base/json/defined.ts';

test('only undefined values are left out: null, false, 0 and empty texts stay', () => {
  const values = defined({ a: undefined, b: null, c: false, d: 0, e: '', f: { g: undefined } });
  expect(Object.keys(values)).toEqual(['b', 'c', 'd', 'e', 'f']);
  expect(values.f).toStrictEqual({ g: undefined });
});
