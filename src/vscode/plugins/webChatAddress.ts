// Finds out whether an address leads to the web chat of this window.
import { randomBytes } from 'node:crypto';
import { pause } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { describeError } from '../../base/errors.ts';
import { keyedHash } from '../../node/scripts/keyedHash.ts';
import { hashedTexts, WEB_CHAT_PROBE } from '../../protocol/webChat.ts';

/** Milliseconds to wait for an answer. */
const ANSWERS_WITHIN = 3000;
/** How long to wait until the page is served. */
const STARTS_WITHIN = 20_000;
const POLL_EVERY = 50;

/**
 * `refused`: the web chat does not accept the host of the address. `missing`: another server answers there and has no
 * such page. `unknown`: this process cannot tell; a browser that is signed in or on another machine may still reach it.
 */
type Reach = 'reached' | 'refused' | 'missing' | 'unknown';

export interface Probed {
  readonly reach: Reach;
  readonly detail: string;
}

/** By its answer to a random text the server proves that it has the key; the key itself is not sent. */
export async function probeWebChat(address: string, key: string): Promise<Probed> {
  const text = randomBytes(18).toString('base64url');
  try {
    const response = await fetch(new URL(`${WEB_CHAT_PROBE}?text=${text}`, address), {
      redirect: 'manual',
      cache: 'no-store',
      signal: AbortSignal.timeout(ANSWERS_WITHIN),
    });
    const isOurs = response.headers.get('x-earshot') === keyedHash(key, hashedTexts.probe(text));
    await response.body?.cancel();
    const detail = `status ${response.status}`;
    if (isOurs) return { reach: response.ok ? 'reached' : 'refused', detail };
    return { reach: response.status === 404 || response.status === 502 ? 'missing' : 'unknown', detail };
  } catch (error) {
    return { reach: 'unknown', detail: describeError(error) };
  }
}

/** Probes repeatedly for at most 20 s, including the time that the answers take. */
export async function untilServed(
  clock: Clock,
  { isServed, hasFailed }: { isServed(): Promise<boolean>; hasFailed(): boolean },
): Promise<'served' | 'failed' | 'late'> {
  const end = clock.now() + STARTS_WITHIN;
  while (clock.now() < end) {
    if (await isServed()) return 'served';
    if (hasFailed()) return 'failed';
    await pause(clock, POLL_EVERY);
  }
  return 'late';
}
