// The beginning of a call, wherever it is cut: never wrong, never a throw, and whole at its end.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPartial } from '../../../src/webview/partialJson.ts';

test('a text shows as far as it is written; keys and numbers only when they are whole', () => {
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

test('every cut of every object is read, and the whole is the whole', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, cut) => {
      const text = JSON.stringify(value);
      expect(readPartial(text)).toEqual(JSON.parse(text));
      expect(typeof readPartial(text.slice(0, cut % (text.length + 1)))).toBe('object');
    }),
  );
});
