// Bounds the schema and the description of an MCP tool, which are part of every request, and rewrites the schema for chat
// templates: each property gets a plain type, and references are replaced. Only the model reads it; the server checks
// arguments by its own schema.
import { isDeeperThan, isObject } from '../../base/json/outsideJson.ts';
import { wholeCharacters } from '../../base/text.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { type McpTool, type ToolHints } from '../session/sessionPort.ts';

const MOST_DESCRIPTION = 4000;
const MOST_SCHEMA = 16_000;
const MOST_DEPTH = 30;

const UNSHOWN = 'Its schema is too long to be shown: any arguments are passed to the server.';
const ANY_OBJECT = { type: 'object', additionalProperties: true } as const;

/** The tool as a part of requests. */
export function describedAs(name: string, tool: McpTool): ToolDescription {
  return { name, description: describeTool(tool), parameters: boundSchema(tool) };
}

export function describeTool(tool: McpTool): string {
  const text = textOf(tool);
  const shown = text.length > MOST_DESCRIPTION ? `${wholeCharacters(text, MOST_DESCRIPTION)}… (cut here)` : text;
  const notes = [modelHint(tool.annotations), isTooLong(schemaOf(tool)) ? UNSHOWN : undefined];
  return [shown, ...notes.flatMap((note) => (note === undefined ? [] : [`(${note})`]))].join('\n');
}

/** What of the tool is cut, for the log; undefined: nothing. */
export function describeCuts(tool: McpTool): string | undefined {
  const cuts = [
    ...(textOf(tool).length > MOST_DESCRIPTION ? ['description'] : []),
    ...(isTooLong(schemaOf(tool)) ? ['schema'] : []),
  ];
  return cuts.length === 0 ? undefined : `${wholeCharacters(tool.name, 100)} (${cuts.join(', ')})`;
}

function textOf({ title, description, name }: McpTool): string {
  return description ?? title ?? name;
}

function schemaOf({ inputSchema }: McpTool): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...schema } = inputSchema;
  return schema;
}

function isTooLong(schema: object): boolean {
  return isDeeperThan(schema, MOST_DEPTH) || JSON.stringify(schema).length > MOST_SCHEMA;
}

/**
 * Each property has a plain type, because chat templates print nothing else. A schema that refers to other documents is
 * replaced, since those are never loaded.
 */
export function boundSchema(tool: McpTool): Readonly<Record<string, unknown>> {
  const schema = schemaOf(tool);
  if (isTooLong(schema) || refersElsewhere(schema)) return ANY_OBJECT;
  return { ...(plainSchema(schema, MOST_SCHEMA) ?? ANY_OBJECT), type: 'object' };
}

/** The caller has checked depth and size. */
function refersElsewhere(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, entry]) => {
    if ((key === '$ref' || key === '$dynamicRef') && typeof entry === 'string') return !entry.startsWith('#');
    return refersElsewhere(entry);
  });
}

function modelHint(hints: ToolHints | undefined): string | undefined {
  if (hints?.readOnlyHint === true) return 'Its server says that it only reads.';
  if (hints?.destructiveHint === true) return 'Its server says that it may destroy something.';
  return undefined;
}

/** The text for the approval card. */
export function describeHints(server: string, hints: ToolHints | undefined): string {
  const says = whatHintsSay(hints);
  const about = says === undefined ? 'It does not say what the tool may change.' : `It says that the tool ${says}.`;
  return `A tool of the MCP server “${server}”. ${about}`;
}

/** Whole texts, because each has a translation. */
function whatHintsSay(hints: ToolHints | undefined): string | undefined {
  const repeats = hints?.idempotentHint === true;
  if (hints?.readOnlyHint === true)
    return repeats ? 'only reads and can be repeated without further effect' : 'only reads';
  if (hints?.destructiveHint === true)
    return repeats ? 'may destroy something and can be repeated without further effect' : 'may destroy something';
  if (hints?.destructiveHint === false)
    return repeats ? 'only adds and can be repeated without further effect' : 'only adds';
  return repeats ? 'can be repeated without further effect' : undefined;
}

type Schema = Readonly<Record<string, unknown>>;

/** Undefined if the result would be longer than `most` characters. */
function plainSchema(schema: Schema, most: number): Schema | undefined {
  let left = most;
  const rewrite = (value: unknown, path: readonly string[]): Schema => {
    const found = isObject(value) ? value : {};
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
      ...(isObject(properties) && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, rewrite(inner, path)])),
      }),
      ...(isObject(items) && { items: rewrite(items, path) }),
      type: typeOf(one),
    };
  };
  const plain = rewrite(schema, []);
  return left < 0 ? undefined : plain;
}

/** A local reference; undefined if it leads nowhere. */
function resolve(root: Schema, ref: string): Schema | undefined {
  if (!ref.startsWith('#/')) return undefined;
  let place: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    place = isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined;
  }
  return isObject(place) ? place : undefined;
}

const UNIONS = ['anyOf', 'oneOf'] as const;

/** A union with a single alternative besides null is that alternative. */
function withoutNull(schema: Schema): Schema {
  for (const union of UNIONS) {
    const alternatives = schema[union];
    if (!Array.isArray(alternatives)) continue;
    const others = alternatives.filter((one) => isObject(one) && one['type'] !== 'null') as Schema[];
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
    if (isObject(first)) return typeOf(first);
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
