// Decides whether an answer is stored in the form of its API, too. Without it the answer is sent back in the neutral form.
import { isDeeperThan, MOST_DEPTH, TOO_DEEP } from '../../base/json/outsideJson.ts';
import { type WireOrigin } from '../../protocol/event.ts';
import { type Logger } from '../ports/ports.ts';

/** In characters of JSON. It is stored in one line of the log and sent with every later request. */
const MOST_ORIGIN_CHARACTERS = 8 * 1024 * 1024;

/** `replaced`: ids of calls that got other ids in the log. Results would not match calls that are sent under the old ones. */
export function checkOrigin(
  origin: WireOrigin | undefined,
  replaced: ReadonlySet<string>,
  logger: Pick<Logger, 'warn'>,
): WireOrigin | undefined {
  if (origin === undefined) return undefined;
  const fault = findOriginFault(origin.items, replaced);
  if (fault === undefined) return origin;
  logger.warn(`the output of ${origin.model} is not stored in the form of its API: ${fault}`);
  return undefined;
}

function findOriginFault(items: readonly unknown[], replaced: ReadonlySet<string>): string | undefined {
  if (isDeeperThan(items, MOST_DEPTH)) return TOO_DEEP;
  if (replaced.size > 0 && contains(items, replaced)) return 'an id of its calls is missing or was used before';
  const { length } = JSON.stringify(items);
  return length > MOST_ORIGIN_CHARACTERS ? `it has ${length.toLocaleString('en')} characters` : undefined;
}

function contains(value: unknown, texts: ReadonlySet<string>): boolean {
  if (typeof value === 'string') return texts.has(value);
  return typeof value === 'object' && value !== null && Object.values(value).some((inner) => contains(inner, texts));
}
