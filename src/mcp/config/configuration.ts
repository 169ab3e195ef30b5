// Reads the configuration of MCP servers from settings and files, and merges them by name.
import { createHash } from 'node:crypto';
import { describeError } from '../../base/errors.ts';
import { parseJsonc } from '../../base/json/jsonc.ts';
import { isDeeperThan, MOST_DEPTH, TOO_DEEP, isObject } from '../../base/json/outsideJson.ts';
import { describeIssue } from '../../protocol/describeIssue.ts';
import {
  inputSchema,
  SERVER_NAME,
  type ServerConfig,
  type ServerInput,
  serverSchemaFor,
} from '../../protocol/outside/mcp.ts';

/** Where a server is configured. Servers of a workspace start only after the user's approval. */
export interface ConfigSource {
  /** Shown to the user: `.vscode/mcp.json`, `earshot.mcp.servers in the user settings`. */
  readonly label: string;
  readonly workspace: boolean;
  /** The absolute path of the folder that relative paths and `${workspaceFolder}` refer to. */
  readonly folder?: string | undefined;
}

export interface ConfiguredServer {
  readonly name: string;
  readonly config: ServerConfig;
  readonly source: ConfigSource;
  readonly inputs: readonly ServerInput[];
  /**
   * A hash of everything above: a server with another configuration is another server. The user's own sources count as
   * one, so that a server is the same whether VS Code's settings or a settings file name it.
   */
  readonly identity: string;
}

export interface ReadConfiguration {
  readonly servers: readonly ConfiguredServer[];
  /** What cannot be used and why, for the user. */
  readonly problems: readonly string[];
}

const OF_USER = 'the user settings';
const MOST_SERVERS = 100;
export const MOST_CONFIG_BYTES = 1024 * 1024;

/** Reads the text of `.vscode/mcp.json`, a profile's `mcp.json` (`servers`) or `.mcp.json` (`mcpServers`). */
export function readConfigText(text: string, source: ConfigSource): ReadConfiguration {
  try {
    return readConfigValue(parseJsonc(text), source);
  } catch (error) {
    return { servers: [], problems: [`${source.label} is not valid JSON: ${describeError(error)}`] };
  }
}

/** `value` has `servers` or `mcpServers`, and may have `inputs`. */
export function readConfigValue(value: unknown, source: ConfigSource): ReadConfiguration {
  if (isDeeperThan(value, MOST_DEPTH)) return { servers: [], problems: [`${source.label} is ${TOO_DEEP}.`] };
  if (!isObject(value)) return { servers: [], problems: [`${source.label}: an object is expected.`] };
  const problems: string[] = [];
  const inputs = readInputs(value['inputs'], source, problems);
  const found = value['servers'] ?? value['mcpServers'] ?? {};
  if (!isObject(found)) return { servers: [], problems: [`${source.label}: servers: an object is expected.`] };
  if (value['sandbox'] !== undefined) problems.push(refuseSandbox(source.label));
  const servers: ConfiguredServer[] = [];
  for (const [name, entry] of Object.entries(found).slice(0, MOST_SERVERS)) {
    if (value['sandbox'] !== undefined) continue;
    const server = readServer(name, entry, source, inputs);
    if (typeof server === 'string') problems.push(server);
    else servers.push(server);
  }
  return { servers, problems };
}

/** If several sources have the same name, the first one is used, and a problem names each of the others. */
export function mergeConfigurations(all: readonly ReadConfiguration[]): ReadConfiguration {
  const servers = new Map<string, ConfiguredServer>();
  const problems = all.flatMap((one) => one.problems);
  for (const server of all.flatMap((one) => one.servers)) {
    const first = servers.get(server.name);
    if (first === undefined) servers.set(server.name, server);
    else
      problems.push(`“${server.name}” in ${server.source.label} is not used: ${first.source.label} has this name too.`);
  }
  return { servers: [...servers.values()], problems };
}

function readServer(
  name: string,
  entry: unknown,
  source: ConfigSource,
  inputs: readonly ServerInput[],
): ConfiguredServer | string {
  const place = `${source.label}: ${name}`;
  if (!SERVER_NAME.test(name)) return `${place}: a name has 1 to 100 characters and no line breaks.`;
  const parsed = serverSchemaFor(entry).safeParse(entry);
  if (!parsed.success) return `${place}: ${describeIssue(parsed.error)}.`;
  const { sandbox, sandboxEnabled } = parsed.data;
  if (sandbox !== undefined || (sandboxEnabled !== undefined && sandboxEnabled !== false)) return refuseSandbox(place);
  const used = inputs.filter(({ id }) => JSON.stringify(entry).includes(`\${input:${id}}`));
  const identity = identityOf([name, parsed.data, source.workspace ? source : OF_USER, used]);
  return { name, config: parsed.data, source, inputs: used, identity };
}

function refuseSandbox(place: string): string {
  return `${place} is not started: it asks for a sandbox, which Earshot cannot provide. Remove “sandbox” to run it without one.`;
}

function readInputs(value: unknown, source: ConfigSource, problems: string[]): readonly ServerInput[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    problems.push(`${source.label}: inputs: a list is expected.`);
    return [];
  }
  return value.slice(0, MOST_SERVERS).flatMap((entry, index) => {
    const parsed = inputSchema.safeParse(entry);
    if (parsed.success) return [parsed.data];
    problems.push(`${source.label}: inputs[${index}]: ${describeIssue(parsed.error)}.`);
    return [];
  });
}

function identityOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}
