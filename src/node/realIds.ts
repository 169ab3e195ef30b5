// Ids from the machine's own randomness.
import { randomBytes, randomFillSync } from 'node:crypto';
import { createUlids } from '../base/ulid.ts';

/** Fetched by the thousand: a call for each id costs more than the id. */
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
  /** 72 bits in 12 characters: it is part of every block. */
  key: () => randomBytes(9).toString('base64url'),
};
