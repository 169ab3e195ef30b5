// Ids from the machine's own randomness.
import { randomBytes, randomFillSync } from 'node:crypto';
import { createUlids } from '../base/ulid.ts';

export const realIds = {
  ulid: createUlids(
    () => Date.now(),
    (bytes) => randomFillSync(bytes),
  ),
  /** 96 bits. */
  key: () => randomBytes(12).toString('base64url'),
};
