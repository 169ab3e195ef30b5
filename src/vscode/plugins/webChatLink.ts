// The code in a link to the web chat. Command lines show it to every process of this user, so it is used once, and soon.
import { randomBytes } from 'node:crypto';
import { keyedHash } from '../../node/scripts/keyedHash.ts';
import { hashedTexts } from '../../protocol/webChat.ts';

/** Consists of characters that a URI does not encode. */
export function linkCode(key: string, now: number): string {
  const id = randomBytes(16).toString('base64url');
  return `${id}.${now}.${keyedHash(key, hashedTexts.link(id, String(now)))}`;
}
