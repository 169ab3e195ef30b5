// A hash that only who knows the key can compute: proves that the other side knows it, and does not reveal it.
import { createHmac } from 'node:crypto';

export function keyedHash(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
