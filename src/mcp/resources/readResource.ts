// The tool read_resource: lists the resources of a connected server, or reads one and watches it from then on.
import * as z from 'zod';
import { describeFailure, type Result } from '../../base/errors.ts';
import { wholeCharacters } from '../../base/text.ts';
import { type Tool, type ToolOutcome } from '../../core/ports/ports.ts';
import { parseArguments } from '../../protocol/describeIssue.ts';
import { resourceName } from '../../protocol/scopes.ts';
import { type McpServer } from '../server.ts';
import { type McpResource } from '../session/sessionPort.ts';

const MOST_LISTED = 100;
const MOST_LINE = 300;

const argumentsSchema = z.strictObject({
  server: z.string().min(1).max(100).describe('Name of the MCP server, as in the names of its tools'),
  uri: z
    .string()
    .regex(/^\S+$/, 'an address has no spaces')
    .max(4000)
    .optional()
    .describe('Address of the resource; absent: the resources of the server are listed'),
});
type Arguments = z.infer<typeof argumentsSchema>;

export interface ReadResource {
  readonly server: string;
  readonly uri: string;
  readonly content: string;
}

export interface ReadResourceDeps {
  servers(): readonly McpServer[];
  /** Whether the user trusts this server's hints about its tools. */
  trustsHints(server: string): boolean;
  /** Called when a conversation was shown the present content of a resource. */
  wasRead(server: string, uri: string, conversation: string): void;
  list(server: string): Promise<readonly McpResource[]>;
  read(server: string, uri: string): Promise<Result<ReadResource>>;
}

export function createReadResource({ servers, trustsHints, wasRead, list, read: get }: ReadResourceDeps): Tool {
  const find = (name: string) => servers().find((server) => server.name === name);
  const { $schema: _dialect, ...parameters } = z.toJSONSchema(argumentsSchema);
  const tool: Tool<Arguments> = {
    description: {
      name: 'read_resource',
      description:
        'Reads a resource of an MCP server by its address, for example one that a tool result links to. Without uri it lists the resources and templates of the server. You are notified when a resource that you have read changes, if its server announces changes. For files of the workspace use read_file.',
      parameters,
    },
    effect: 'execute',
    traits: { resultsFrom: 'server' },
    effectFor: ({ server, uri }) => (uri === undefined || trustsHints(server) ? 'read' : 'execute'),
    emits: [],
    parse: parseArguments(argumentsSchema),
    touches: ({ server }) => ({
      server: {
        name: server,
        identity: find(server)?.configured.identity ?? '',
        tool: 'resources/read',
        note: `Reads a resource of the MCP server “${server}”.`,
      },
    }),
    whyNot: ({ server }) => {
      if (find(server)?.session !== undefined) return undefined;
      const connected = servers().flatMap(({ name, session }) => (session?.hasResources === true ? [name] : []));
      const others = connected.length === 0 ? 'none' : connected.join(', ');
      const message = `server: the MCP server “${wholeCharacters(server, 100)}” is not connected.`;
      return { code: 'no_server', message, nextStep: `Servers with resources: ${others}.` };
    },
    run: async ({ server, uri }, { conversation }): Promise<ToolOutcome> => {
      if (uri === undefined) return { content: describeResources(server, await list(server)), isError: false };
      const read = await get(server, uri);
      if (!read.ok) return { content: describeFailure(read.failure), isError: true, failure: read.failure.code };
      wasRead(server, uri, conversation);
      return { content: read.value.content, isError: false, resources: [resourceName(server, uri)] };
    },
  };
  return tool;
}

function describeResources(server: string, all: readonly McpResource[]): string {
  if (all.length === 0) return `The MCP server “${server}” lists no resources.`;
  const more = all.length > MOST_LISTED ? [`(${all.length - MOST_LISTED} more)`] : [];
  return [...all.slice(0, MOST_LISTED).map(describeResource), ...more].join('\n');
}

function describeResource({ uri, name, title, description, mimeType, variables }: McpResource): string {
  const kind = variables === undefined ? (mimeType ?? '') : `template with ${variables.join(', ')}`;
  const about = [title ?? name, kind, description ?? ''].filter((one) => one !== '').join('; ');
  return wholeCharacters(`${uri} (${about.replace(/\s+/g, ' ')})`, MOST_LINE);
}
