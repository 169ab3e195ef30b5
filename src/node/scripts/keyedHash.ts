// A hash that only a holder of the key can compute: it proves that the other side has the key without revealing it.
import { createHmac } from 'node:crypto';

export function keyedHash(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
