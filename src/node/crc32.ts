// The CRC-32 checksum of zlib, also for versions of Node whose zlib does not offer it (before 20.15).
import * as zlib from 'node:zlib';

const POLYNOMIAL = 0xedb88320;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 0 ? value >>> 1 : (value >>> 1) ^ POLYNOMIAL;
  return value;
});

/** `value`: the checksum of the data before these. */
export function plainCrc32(data: string | Uint8Array, value = 0): number {
  let crc = ~value;
  for (const byte of typeof data === 'string' ? Buffer.from(data) : data) {
    crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  }
  return ~crc >>> 0;
}

export const crc32 = (zlib as Partial<Pick<typeof zlib, 'crc32'>>).crc32 ?? plainCrc32;
