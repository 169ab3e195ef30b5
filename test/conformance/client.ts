// The client that the official conformance suite drives: Earshot's MCP session without an editor. The suite appends the
// server's address and names the scenario in the environment.
import { type HttpLaunch } from '../../src/mcp/config/launch.ts';
import { type SignIn } from '../../src/mcp/oauth/signInPort.ts';
import { openSession } from '../../src/mcp/session/openSession.ts';
import { LIMITS, type McpSession, type McpTool } from '../../src/mcp/session/sessionPort.ts';
import { memorySecrets } from '../support/mcp/memorySecrets.ts';

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments?: Record<string, unknown> }[];
};
/** The suite's authorization server knows this document. */
const METADATA_URL = 'https://conformance-test.local/client-metadata.json';
const REDIRECT_URL = 'http://127.0.0.1:33419/callback';

/** Consents at once, as a user would, and returns the parameters of the redirect. */
function createSignIn(): SignIn {
  let back: URLSearchParams | undefined;
  return {
    secrets: memorySecrets(),
    redirectUrl: REDIRECT_URL,
    metadataUrl: METADATA_URL,
    isAsked: () => true,
    open: async (url, state) => {
      const response = await fetch(url, { redirect: 'manual' });
      const location = response.headers.get('location');
      if (location === null) return false;
      const { searchParams } = new URL(location, url);
      if (searchParams.get('state') !== state) return false;
      back = searchParams;
      return true;
    },
    callback: async () => {
      const params = back;
      back = undefined;
      return params;
    },
  };
}

const ignore = () => undefined;

/** The streams for messages that belong to no request, in the legacy era. Pending until the server has opened them. */
const streams: Promise<unknown>[] = [];
const { fetch: plainFetch } = globalThis;
globalThis.fetch = (input, init) => {
  const response = plainFetch(input, init);
  const isStream = init?.method === 'GET' && new Headers(init.headers).get('accept') === 'text/event-stream';
  if (isStream) streams.push(response.catch(ignore));
  return response;
};

async function connect(url: string, signIn: SignIn): Promise<McpSession> {
  const { client_id: clientId, client_secret: clientSecret } = context;
  const launch: HttpLaunch = {
    type: 'http',
    url: new URL(url),
    headers: {},
    sseOnly: false,
    ...(clientId !== undefined && { oauth: { clientId, ...(clientSecret !== undefined && { clientSecret }) } }),
  };
  const ended = new AbortController();
  return openSession(
    {
      server: 'conformance',
      identity: 'conformance',
      launch,
      client: { name: 'Earshot', version: '0.0.0' },
      limits: LIMITS,
      knownLegacy: process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] === '2025-11-25',
      signIn,
      log: (line) => process.stderr.write(`${line}\n`),
      openExternal: async () => true,
      listener: {
        ended: ignore,
        toolsChanged: ignore,
        promptsChanged: ignore,
        resourcesChanged: ignore,
        resourceUpdated: ignore,
        event: ignore,
        eventsChanged: ignore,
      },
    },
    ended.signal,
  );
}

/** A value for each property, by its type. A tool that needs an object gets the input schema of the first tool. */
function sampleArguments({ inputSchema }: McpTool, first: McpTool | undefined): Record<string, unknown> {
  const properties = (inputSchema['properties'] ?? {}) as Record<
    string,
    { type?: string; default?: unknown; enum?: unknown[] }
  >;
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const samples: Record<string, unknown> = {
        number: 5,
        integer: 3,
        boolean: true,
        array: [],
        object: first?.inputSchema ?? {},
      };
      return [name, schema.default ?? schema.enum?.[0] ?? samples[schema.type ?? 'string'] ?? 'text'];
    }),
  );
}

async function run(url: string): Promise<void> {
  const signIn = createSignIn();
  const session = await connect(url, signIn);
  // Forms are submitted empty, so that all fields have their defaults.
  const hooks = { signal: new AbortController().signal, progress: ignore, ask: async () => '{}' };
  const tools = await session.listTools();
  const calls =
    context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: sampleArguments(tool, tools[0]) }));
  // The server of this scenario asks over the stream for other messages, and drops the question if that is not open yet.
  if (scenario === 'elicitation-sep1034-client-defaults') await Promise.all(streams);
  for (const { name, arguments: args = {} } of calls) {
    const end = await session.call(name, args, hooks);
    process.stderr.write(`${scenario} ${name}: ${JSON.stringify(end)}\n`);
  }
  await session.close();
}

try {
  await run(process.argv.at(-1) ?? '');
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}
// Streams that a scenario leaves open must not keep the process running.
process.exit();
