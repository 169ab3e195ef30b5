// Rewrites the schema of an MCP tool for chat templates: each property gets a plain type, and references are replaced.
// Only the model reads the result; the server checks arguments by its own schema.

type Schema = Readonly<Record<string, unknown>>;

const MOST_DEPTH = 30;

/** Undefined if the result would be longer than `most` characters. */
export function plainSchema(schema: Schema, most: number): Schema | undefined {
  let left = most;
  const rewrite = (value: unknown, path: readonly string[]): Schema => {
    const found = isSchema(value) ? value : {};
    const { $ref: ref, $defs: _, definitions: _definitions, ...own } = found;
    if (typeof ref === 'string') {
      const target = path.includes(ref) ? undefined : resolve(schema, ref);
      return target === undefined || path.length > MOST_DEPTH
        ? { ...own, type: 'object' }
        : rewrite({ ...target, ...own }, [...path, ref]);
    }
    const one = withoutNull(own);
    left -= JSON.stringify({ ...one, properties: 0, items: 0 }).length;
    if (left < 0) return { type: 'object' };
    const { properties, items } = one;
    return {
      ...one,
      ...(isSchema(properties) && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, rewrite(inner, path)])),
      }),
      ...(isSchema(items) && { items: rewrite(items, path) }),
      type: typeOf(one),
    };
  };
  const plain = rewrite(schema, []);
  return left < 0 ? undefined : plain;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A local reference; undefined if it leads nowhere. */
function resolve(root: Schema, ref: string): Schema | undefined {
  if (!ref.startsWith('#/')) return undefined;
  let place: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    place = isSchema(place) && Object.hasOwn(place, name) ? place[name] : undefined;
  }
  return isSchema(place) ? place : undefined;
}

const UNIONS = ['anyOf', 'oneOf'] as const;

/** A union with a single alternative besides null is that alternative. */
function withoutNull(schema: Schema): Schema {
  for (const union of UNIONS) {
    const alternatives = schema[union];
    if (!Array.isArray(alternatives)) continue;
    const others = alternatives.filter((one) => isSchema(one) && one['type'] !== 'null') as Schema[];
    const { [union]: _, ...rest } = schema;
    if (others.length === 1) return withoutNull({ ...others[0], ...rest });
    return { ...schema, [union]: others };
  }
  return schema;
}

/** The first type that the schema allows. */
function typeOf(schema: Schema): string {
  const type = [schema['type']].flat().find((one) => typeof one === 'string' && one !== 'null');
  if (typeof type === 'string') return type;
  const values = 'const' in schema ? [schema['const']] : Array.isArray(schema['enum']) ? schema['enum'] : [];
  const value: unknown = values.find((one) => one !== null);
  if (value !== undefined) return typeOfValue(value);
  for (const union of UNIONS) {
    const [first] = Array.isArray(schema[union]) ? (schema[union] as unknown[]) : [];
    if (isSchema(first)) return typeOf(first);
  }
  if ('properties' in schema || 'additionalProperties' in schema) return 'object';
  return 'items' in schema ? 'array' : 'string';
}

function typeOfValue(value: unknown): string {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'object' ? 'object' : 'string';
}
