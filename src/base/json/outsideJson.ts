// Parses outside JSON and limits its nesting, since code that walks it later recurses.

/** More than any tool or schema needs, and far less than overflows the stack. */
export const MOST_DEPTH = 100;

/** Whether lists and objects are nested deeper than the limit. True for data that contains itself. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit <= 0) return true;
  // Recurses no deeper than the limit and allocates nothing: it runs for every event that is read.
  for (const key in value) if (isDeeperThan((value as Record<string, unknown>)[key], limit - 1)) return true;
  return false;
}

/** The message for data that is too deep. */
export const TOO_DEEP = `nested deeper than ${MOST_DEPTH} levels`;

/** Undefined if the text is not a JSON object. Does not check the depth. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
