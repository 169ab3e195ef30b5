// Objects without undefined values, as JSON has them.

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The properties that are not undefined: `{ id, ...defined({ name }) }` has a name only if there is one. */
export function defined<T extends object>(values: T): Defined<T> {
  const present: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) if (value !== undefined) present[name] = value;
  return present as Defined<T>;
}
