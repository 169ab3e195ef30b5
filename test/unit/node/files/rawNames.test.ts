// File names as text and back to bytes, for any bytes.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeName, diskPath, encodeName, isOddName, splitNames } from '../../../../src/node/files/rawNames.ts';

test('every name is encoded to the same bytes, and only names that are not UTF-8 are odd', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      expect(new Uint8Array(encodeName(decodeName(bytes)))).toEqual(bytes);
    }),
    { numRuns: 2000 },
  );
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(decodeName(Buffer.from(text))).toBe(text);
      expect(isOddName(text)).toBe(false);
    }),
  );
  expect(decodeName(Buffer.from('café', 'latin1'))).toBe('caf\uDCE9');
  expect(diskPath('/a/caf\uDCE9')).toEqual(Buffer.from('/a/café', 'latin1'));
  expect(diskPath('/a/😀�')).toBe('/a/😀�');
  // Encoded surrogates and overlong forms are not UTF-8.
  for (const bytes of [
    [0xed, 0xb3, 0xa9],
    [0xc0, 0xaf],
    [0xf0, 0x9f, 0x98],
  ]) {
    expect([...encodeName(decodeName(Uint8Array.from(bytes)))]).toEqual(bytes);
  }
});

test('a name survives JSON, and a list is split as git printed it', () => {
  const odd = decodeName(Buffer.from('d\xe4/\xff', 'latin1'));
  expect(JSON.parse(JSON.stringify(odd))).toBe(odd);
  const listed = Buffer.concat([Buffer.from('ä\0'), Buffer.from('\xe4\0', 'latin1'), Buffer.from('b\0')]);
  expect(splitNames(listed)).toEqual(['ä', '\uDCE4', 'b', '']);
  expect(splitNames(Buffer.from('a\0b'))).toEqual(['a', 'b']);
});
