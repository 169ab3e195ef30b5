// Bounds the schema and the description of an MCP tool, which are part of every request.
import { isDeeperThan } from '../../base/json/outsideJson.ts';
import { wholeCharacters } from '../../base/text.ts';
import { type McpTool, type ToolHints } from '../session/sessionPort.ts';

const MOST_DESCRIPTION = 4000;
const MOST_SCHEMA = 16_000;
const MOST_DEPTH = 30;

const ANY_OBJECT = { type: 'object', additionalProperties: true } as const;

export function describeTool({ title, description, annotations, name }: McpTool): string {
  const text = description ?? title ?? name;
  const hint = modelHint(annotations);
  return `${wholeCharacters(text, MOST_DESCRIPTION)}${hint === undefined ? '' : `\n(${hint})`}`;
}

/** Keeps local references. A schema that refers to other documents is replaced, since those are never loaded. */
export function boundSchema({ inputSchema }: McpTool): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...schema } = inputSchema;
  const isTooMuch = isDeeperThan(schema, MOST_DEPTH) || JSON.stringify(schema).length > MOST_SCHEMA;
  if (isTooMuch || refersElsewhere(schema)) return ANY_OBJECT;
  return schema['type'] === 'object' ? schema : { ...schema, type: 'object' };
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
  const says = [
    ...(hints?.readOnlyHint === true ? ['only reads'] : []),
    ...(hints?.readOnlyHint !== true && hints?.destructiveHint === true ? ['may destroy something'] : []),
    ...(hints?.readOnlyHint !== true && hints?.destructiveHint === false ? ['only adds'] : []),
    ...(hints?.idempotentHint === true ? ['can be repeated without further effect'] : []),
  ];
  const about =
    says.length === 0 ? 'It does not say what the tool may change.' : `It says that the tool ${says.join(' and ')}.`;
  return `A tool of the MCP server “${server}”. ${about}`;
}
