// Images in results: read by their bytes, bounded, described, counted.
import { expect, test } from 'vitest';
import { readImageSize } from '../../../../src/base/imageSize.ts';
import { chooseImages } from '../../../../src/core/tools/shownImages.ts';

const bytes = (...parts: (string | number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part, 'latin1')] : part)));
const png = (width: number, height: number, more = 0) => {
  const data = Buffer.alloc(24 + more);
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').copy(data);
  data.writeUInt32BE(width, 16);
  data.writeUInt32BE(height, 20);
  return data;
};
const jpeg = bytes([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc2, 0, 17, 8, 1, 0x2c, 2, 0x58, 3, 0, 0, 0]);

test('kind and size are read from the bytes of each format', () => {
  expect(readImageSize(png(640, 480))).toEqual({ mediaType: 'image/png', width: 640, height: 480 });
  expect(readImageSize(bytes('GIF89a', [0x20, 3, 0x58, 2]))).toMatchObject({ width: 800, height: 600 });
  expect(readImageSize(jpeg)).toEqual({ mediaType: 'image/jpeg', width: 600, height: 300 });
  const webp = (kind: string, rest: number[]) => bytes('RIFF', [0, 0, 0, 0], 'WEBP', kind, rest);
  expect(readImageSize(webp('VP8X', [10, 0, 0, 0, 0, 0, 0, 0, 0x7f, 2, 0, 0xdf, 1, 0]))).toMatchObject({
    width: 640,
    height: 480,
  });
  expect(readImageSize(webp('VP8 ', [0, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 0x80, 2, 0xe0, 1]))).toMatchObject({
    width: 640,
    height: 480,
  });
});

test('other bytes, cut ones and endless segments are no image', () => {
  for (const one of [bytes(''), bytes('hello'), png(0, 5), jpeg.slice(0, 12), bytes('RIFF....WEBPVP8 ')])
    expect(readImageSize(one)).toBeUndefined();
  expect(
    readImageSize(Uint8Array.from({ length: 1_000_000 }, (_, index) => (index === 1 ? 0xd8 : 0xff))),
  ).toBeUndefined();
  for (let length = 0; length < 40; length++) readImageSize(jpeg.slice(0, length));
});

test('the bytes decide about the type, and every image is described', () => {
  const { images, notes } = chooseImages([{ mediaType: 'image/gif', bytes: png(750, 2), name: 'a.gif' }], {});
  expect(images).toMatchObject([{ mediaType: 'image/png', name: 'a.gif', tokens: 2 }]);
  expect(notes).toEqual(['(a.gif: PNG, 750 × 2 pixels, 24 bytes)']);
});

test('an image that endpoints would refuse is only described, with the reason', () => {
  const why = (image: Uint8Array, takesImages?: boolean) =>
    chooseImages([{ mediaType: 'image/png', bytes: image }], takesImages === undefined ? {} : { takesImages });
  expect(why(png(9000, 5))).toMatchObject({ images: [], notes: [expect.stringContaining('longer than 8000 pixels')] });
  expect(why(png(9, 5, 4_000_000)).notes[0]).toContain('larger than 3.7 MB');
  expect(why(png(9, 5), false).notes[0]).toContain('this model takes no images');
  expect(why(bytes('no image')).notes[0]).toContain('it is damaged');
  expect(why(png(4000, 4000)).images[0]?.tokens).toBe(1600);
  const many = chooseImages(
    Array.from({ length: 9 }, () => ({ mediaType: 'image/png' as const, bytes: png(9, 9) })),
    {},
  );
  expect(many.images).toHaveLength(8);
  expect(many.notes[8]).toContain('at most 8 images');
});
