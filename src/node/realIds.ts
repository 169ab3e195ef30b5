// Ids from the system's random numbers.
import { randomBytes, randomFillSync } from 'node:crypto';
import { createUlids } from '../base/ulid.ts';

/** Fetched in bulk, since a call for each id is slow. */
const pool = new Uint8Array(4096);
let taken = pool.length;

function takeRandom(bytes: Uint8Array): void {
  if (taken + bytes.length > pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  bytes.set(pool.subarray(taken, taken + bytes.length));
  taken += bytes.length;
}

export const realIds = {
  ulid: createUlids(() => Date.now(), takeRandom),
  /** 72 bits in 12 characters, since it is part of every block. */
  key: () => randomBytes(9).toString('base64url'),
};
