// Terminal output as plain text, whole and streamed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeLength, decodePiece, PlainTextStream, plainText } from '../../../src/base/terminalText.ts';

test.each([
  ['\u001b[1;31mred\u001b[0m', 'red'],
  ['\u001b]0;a title\u0007text', 'text'],
  ['\u001b]8;;https://example.org\u001b\\a link\u001b]8;;\u001b\\', 'a link'],
  ['\u001b(B\u001b[mplain\u001b[K', 'plain'],
  ['10 %\r20 %\r100 %\n', '100 %\n'],
  ['⠙\u001b[1G\u001b[0K⠹\u001b[G\u001b[Knpm error', 'npm error'],
  ['one\r\ntwo\r\n', 'one\ntwo\n'],
  ['working |\b/\b-\bdone', 'working done'],
  ['a\u0007b\u0000c\td', 'abc\td'],
  ['cut off \u001b[3', 'cut off '],
])('%j becomes %j', (raw, text) => {
  expect(plainText(raw)).toBe(text);
});

test('streamed pieces give the same text as the whole, wherever it is cut', () => {
  const raw = 'a\u001b[1;31mred\u001b[0m b\u001b]0;title\u0007 c\u001b]8;;x\u001b\\link\u001b]8;;\u001b\\ end\n';
  for (let at = 0; at <= raw.length; at++) {
    const stream = new PlainTextStream();
    expect(stream.take(raw.slice(0, at)) + stream.take(raw.slice(at))).toBe(plainText(raw));
  }
});

test('no character or escape sequence is split, whatever the text', () => {
  // Other control characters are left out: they change the text before them, which may be in another piece.
  const words = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/\p{Cc}/gu, ''));
  const part = fc.oneof(words, fc.constantFrom('\u001b[31m', '\u001b]0;t\u0007', '\n'));
  fc.assert(
    fc.property(fc.array(part), fc.nat(), (parts, seed) => {
      const bytes = new TextEncoder().encode(parts.join(''));
      const at = seed % (bytes.length + 1);
      const first = completeLength(bytes.subarray(0, at));
      expect(first).toBeLessThanOrEqual(at);
      const pieces = [bytes.subarray(0, first), bytes.subarray(first)].map((piece) => plainText(decodePiece(piece)));
      expect(pieces.join('')).toBe(plainText(parts.join('')));
    }),
  );
});
