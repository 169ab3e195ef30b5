// Detection of encodings: decoded texts are encoded to the same bytes again, and binary data is not decoded as text.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBytes, type Encoding, encodeText } from '../../../src/base/encodings.ts';

const TEXT = 'Grüße, “Welt” €5\r\nzweite Zeile';

test.each<[Encoding, string]>([
  ['utf8', TEXT],
  ['utf8bom', `${TEXT} 𝒳`],
  ['utf16le', `${TEXT} 𝒳`],
  ['utf16be', `${TEXT} 𝒳`],
  ['windows1252', TEXT],
])('%s is detected from the bytes and encoded to the same bytes', (encoding, text) => {
  const bytes = encodeText(text, encoding);
  expect(bytes && decodeBytes(bytes)).toEqual({ text, encoding });
});

test('any bytes that are decoded as text are encoded to the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const decoded = decodeBytes(bytes);
      if (decoded !== undefined) expect(encodeText(decoded.text, decoded.encoding)).toEqual(bytes);
    }),
    { numRuns: 2000 },
  );
});

test('binary data is not decoded', () => {
  expect(decodeBytes(Uint8Array.of(1, 0, 2))).toBeUndefined();
  expect(decodeBytes(Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0x10, 0x4a))).toBeUndefined();
  expect(decodeBytes(Uint8Array.of(0xff, 0xfe, 0x41))).toBeUndefined();
});

test('a character that the encoding lacks makes encoding fail', () => {
  expect(encodeText('ж', 'windows1252')).toBeUndefined();
  expect(encodeText('half \ud83d', 'utf8')).toBeUndefined();
});
