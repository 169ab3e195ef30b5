// Checks lines of the Agent Client Protocol against its official JSON schema, each against the definition of its
// method.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';

const file = resolve(import.meta.dirname, '../../../node_modules/@agentclientprotocol/sdk/schema/v1/schema.json');

type Definition = Readonly<Record<string, unknown>>;
type Side = 'agent' | 'client';

export interface WireLine {
  /** The side that wrote the line. */
  readonly from: Side;
  readonly line: string;
}

interface Frame {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const { $defs } = JSON.parse(readFileSync(file, 'utf8'), withoutOpenVariants) as { $defs: Record<string, Definition> };
const judges = new Map<string, z.ZodType>();

/** Returns one problem for each line of a connection that the schema does not allow. */
export function judgeWire(lines: readonly WireLine[], of: readonly Side[] = ['agent', 'client']): readonly string[] {
  const frames = lines.map(({ from, line }) => ({ from, line, frame: JSON.parse(line) as Frame }));
  /** The methods of requests by id, for the side that sent them. */
  const asked = { agent: new Map<unknown, string>(), client: new Map<unknown, string>() };
  for (const { from, frame } of frames) {
    if (typeof frame.method === 'string' && frame.id !== undefined) asked[from].set(frame.id, frame.method);
  }
  return frames.flatMap(({ from, line, frame }) => {
    if (!of.includes(from)) return [];
    const other = from === 'agent' ? 'client' : 'agent';
    const why = judgeFrame(frame, from, asked[other]);
    return why === undefined ? [] : [`${why}: ${line.slice(0, 400)}`];
  });
}

function judgeFrame(
  { jsonrpc, id, method, params, result, error }: Frame,
  from: Side,
  asked: ReadonlyMap<unknown, string>,
): string | undefined {
  if (jsonrpc !== '2.0') return 'no JSON-RPC 2.0';
  const handler = from === 'agent' ? 'client' : 'agent';
  if (typeof method === 'string') {
    if (method.startsWith('_')) return undefined;
    const side = method.startsWith('$/') ? 'protocol' : handler;
    return judge(definitionOf(method, side, id === undefined ? 'Notification' : 'Request'), params);
  }
  if (error !== undefined) return judge('Error', error);
  const request = asked.get(id);
  if (request === undefined) return 'an answer without a request';
  return request.startsWith('_') ? undefined : judge(definitionOf(request, from, 'Response'), result);
}

function definitionOf(method: string, side: string, ending: 'Request' | 'Response' | 'Notification') {
  const found = Object.entries($defs).find(
    ([name, { 'x-method': of, 'x-side': at }]) => of === method && at === side && name.endsWith(ending),
  );
  return found?.[0];
}

function judge(definition: string | undefined, value: unknown): string | undefined {
  if (definition === undefined) return 'a method that the schema does not have';
  let schema = judges.get(definition);
  if (schema === undefined) {
    schema = z.fromJSONSchema({ $ref: `#/$defs/${definition}`, $defs });
    judges.set(definition, schema);
  }
  const { success, error } = schema.safeParse(value);
  return success ? undefined : `${definition} ${JSON.stringify(error.issues).slice(0, 600)}`;
}

/**
 * Removes the variants that allow additions of later versions: they use `not`, which zod does not support. Only
 * documented values pass.
 */
function withoutOpenVariants(_key: string, value: unknown): unknown {
  return Array.isArray(value) ? value.filter((one) => !(isObject(one) && 'not' in one)) : value;
}

function isObject(value: unknown): value is Definition {
  return typeof value === 'object' && value !== null;
}
