// Rewrites the schemas of tools for endpoints that accept only a part of JSON Schema. Pure. Only the model reads the
// result; arguments are checked by the tool's own schema.
import { isObject } from '../../base/json/outsideJson.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The part of JSON Schema that an endpoint accepts. */
export type SchemaFlavour = 'gemini' | 'kimi';

const rewritten = { gemini: new WeakMap<Schema, Schema>(), kimi: new WeakMap<Schema, Schema>() };

/** The schema in the flavour of an endpoint. Each is rewritten once: it is sent with every request. */
export function inFlavour(schema: Schema, flavour: SchemaFlavour | undefined): Schema {
  if (flavour === undefined) return schema;
  const known = rewritten[flavour].get(schema);
  if (known !== undefined) return known;
  const made = flavour === 'gemini' ? forGemini(withoutUnion(schema)) : forKimi(schema);
  rewritten[flavour].set(schema, made);
  return made;
}

function alternativesOf(schema: Schema): readonly Schema[] {
  const all = [schema['anyOf'], schema['oneOf']].find(Array.isArray) as readonly unknown[] | undefined;
  return (all ?? []).filter(isObject);
}

/** Of a list with a schema for each place, the schema of the first: such lists are refused. */
function itemsOf({ items, prefixItems }: Schema): Schema | undefined {
  const [first] = [items, prefixItems].flat().filter(isObject);
  return first;
}

function mapProperties(properties: unknown, map: (schema: Schema) => Schema): Record<string, Schema> | undefined {
  if (!isObject(properties)) return undefined;
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, map(isObject(one) ? one : {})]));
}

/** Moonshot: no references, a union without a type beside it, one schema for the items of a list. */
function forKimi(schema: Schema): Schema {
  const { $ref: _ref, $defs: _defs, definitions: _definitions, oneOf: _oneOf, prefixItems: _prefix, ...own } = schema;
  const { anyOf: _anyOf, items: _items, type, ...rest } = own;
  const alternatives = alternativesOf(schema);
  const properties = mapProperties(own['properties'], forKimi);
  const items = itemsOf(schema);
  const common = {
    ...rest,
    ...(properties !== undefined && { properties }),
    ...(items !== undefined && { items: forKimi(items) }),
  };
  if (alternatives.length === 0) return { ...common, ...(type !== undefined && { type }) };
  const typed = alternatives.map((one) => (hasType(one) || type === undefined ? one : { ...one, type }));
  return { ...common, anyOf: typed.map(forKimi) };
}

function hasType(schema: Schema): boolean {
  return 'type' in schema || alternativesOf(schema).length > 0;
}

/** Keywords that Gemini takes for every type, and for one type only. */
const GEMINI_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  array: ['minItems', 'maxItems'],
};

/** The arguments of a tool are one object: it gets the properties of all alternatives. */
function withoutUnion({ anyOf: _anyOf, oneOf: _oneOf, ...own }: Schema): Schema {
  const all = alternativesOf({ anyOf: _anyOf, oneOf: _oneOf }).map(({ properties }) => properties);
  const entries = [...all, own['properties']].filter(isObject).flatMap((one) => Object.entries(one));
  return { ...own, type: 'object', ...(entries.length > 0 && { properties: Object.fromEntries(entries) }) };
}

/** Gemini: one type, values of an enumeration only for texts, lists with items, no other keyword than it knows. */
function forGemini(schema: Schema): Schema {
  const { description } = schema;
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) {
    // Nothing may stand beside a union.
    const [first, ...others] = alternatives.map(forGemini).flatMap((one) => flatUnion(one));
    return { anyOf: [typeof description === 'string' ? { ...first, description } : first, ...others] };
  }
  const type = typeOf(schema);
  const values = valuesOf(schema);
  const texts = values.filter((one) => typeof one === 'string' && one !== '');
  const said = [
    ...(typeof description === 'string' ? [description] : []),
    ...(values.length > 0 && type !== 'string'
      ? [`One of ${values.map((one) => JSON.stringify(one)).join(', ')}.`]
      : []),
  ].join(' ');
  const kept = (GEMINI_KEYWORDS[type] ?? []).filter((name) => typeof schema[name] === 'number');
  const properties = type === 'object' ? mapProperties(schema['properties'], forGemini) : undefined;
  const required = [schema['required']]
    .flat()
    .filter((name) => typeof name === 'string' && Object.hasOwn(properties ?? {}, name));
  return {
    type,
    ...(said !== '' && { description: said }),
    ...(texts.length > 0 && type === 'string' && { enum: texts }),
    ...Object.fromEntries(kept.map((name) => [name, schema[name]])),
    ...(properties !== undefined && { properties }),
    ...(required.length > 0 && { required }),
    ...(type === 'array' && { items: forGemini(itemsOf(schema) ?? {}) }),
  };
}

function flatUnion(schema: Schema): readonly Schema[] {
  const alternatives = alternativesOf(schema);
  return alternatives.length === 0 ? [schema] : alternatives;
}

function typeOf(schema: Schema): string {
  const type = [schema['type']].flat().find((one) => typeof one === 'string' && one !== 'null');
  if (typeof type === 'string') return type;
  return isObject(schema['properties']) ? 'object' : itemsOf(schema) === undefined ? 'string' : 'array';
}

function valuesOf(schema: Schema): readonly unknown[] {
  const values = 'const' in schema ? [schema['const']] : [schema['enum']].flat();
  return values.filter((one) => one !== null && one !== undefined);
}
