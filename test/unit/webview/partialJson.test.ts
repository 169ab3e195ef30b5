// Parsing of incomplete JSON arguments: never wrong, never throws, complete at the end.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPartial } from '../../../src/webview/partialJson.ts';

test('an incomplete string is returned so far; keys and numbers only when complete', () => {
  expect(readPartial('{"path": "src/a')).toEqual({ path: 'src/a' });
  expect(readPartial('{"path": "a", "con')).toEqual({ path: 'a' });
  expect(readPartial('{"path": "a", "edits": [{"old_text": "x\\n\\u00')).toEqual({
    path: 'a',
    edits: [{ old_text: 'x\n' }],
  });
  expect(readPartial('{"a": 12')).toEqual({});
  expect(readPartial('{"a": 12, "b": tr')).toEqual({ a: 12 });
  for (const nothing of ['', '{', '[1', 'nonsense', '"a"']) expect(readPartial(nothing)).toEqual({});
});

test('every prefix of any object is parsed, and the complete text gives the object', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value);
      expect(readPartial(text)).toEqual(JSON.parse(text));
      expect(typeof readPartial(text.slice(0, cut % (text.length + 1)))).toBe('object');
    }),
  );
});
