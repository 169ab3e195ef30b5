// Parses JSON from outside and bounds how deep it may be nested: whoever prints or walks it later does so by recursion.

/** More than any tool or schema needs, and far less than a stack can take. */
export const MOST_DEPTH = 100;

/** Whether lists and objects are nested in more than so many levels. Data that contains itself is. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit <= 0) return true;
  // No deeper than the limit by recursion, and without a list of the values: every event that is read is looked at.
  for (const key in value) if (isDeeperThan((value as Record<string, unknown>)[key], limit - 1)) return true;
  return false;
}

/** What is said of data that is. */
export const TOO_DEEP = `nested deeper than ${MOST_DEPTH} levels`;

/** Undefined for text that is no JSON object. Deep ones are parsed too. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
