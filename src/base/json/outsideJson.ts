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

/** An object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined if the text is not a JSON object. Does not check the depth. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Undefined if the value has no such field. */
export function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The text of a field, cut; empty if it has none. */
export function textOf(value: unknown, name: string, longest = Number.POSITIVE_INFINITY): string {
  const text = fieldOf(value, name);
  return typeof text === 'string' ? text.slice(0, longest) : '';
}

/** The first elements of a list in a field. */
export function listOf(value: unknown, name: string, most = Number.POSITIVE_INFINITY): readonly unknown[] {
  const list = fieldOf(value, name);
  return Array.isArray(list) ? list.slice(0, most) : [];
}
