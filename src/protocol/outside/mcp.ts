// The configuration of MCP servers as users and workspaces write it: settings, `.vscode/mcp.json`, `.mcp.json`.
import * as z from 'zod';

const text = z.string().max(10_000);

/** `sandbox` is recognised so that it can be refused: a server that is configured for one must not run without it. */
const sandbox = { sandbox: z.unknown().optional(), sandboxEnabled: z.unknown().optional() };

/** Keys that other programs read, such as `dev`, are ignored. */
const stdioSchema = z.object({
  type: z.literal('stdio').optional(),
  command: text.min(1),
  args: z.array(text).max(200).optional(),
  cwd: text.optional(),
  /** `null` unsets a variable. */
  env: z.record(z.string().max(200), z.union([text, z.number(), z.boolean(), z.null()])).optional(),
  envFile: text.optional(),
  ...sandbox,
});

const httpSchema = z.object({
  type: z.enum(['http', 'sse', 'streamable-http']).optional(),
  url: text.min(1),
  headers: z.record(z.string().max(200), text).optional(),
  /** A client that was registered with the authorization server beforehand. */
  oauth: z
    .object({ clientId: text.min(1), clientSecret: text.optional(), scopes: z.array(text).max(100).optional() })
    .optional(),
  ...sandbox,
});

export type StdioServer = z.infer<typeof stdioSchema>;
export type HttpServer = z.infer<typeof httpSchema>;
export type ServerConfig = StdioServer | HttpServer;

export function isStdio(config: ServerConfig): config is StdioServer {
  return 'command' in config;
}

/** Chosen by the key `url`, so that an error message names the right field. */
export function serverSchemaFor(value: unknown): z.ZodType<ServerConfig> {
  const isHttp = typeof value === 'object' && value !== null && 'url' in value;
  return isHttp ? httpSchema : stdioSchema;
}

const inputBase = { id: text.min(1), description: text.optional() };

export const inputSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('promptString'),
    ...inputBase,
    default: text.optional(),
    password: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('pickString'),
    ...inputBase,
    options: z
      .array(z.union([text, z.object({ label: text, value: text })]))
      .min(1)
      .max(500),
    default: text.optional(),
  }),
  z.object({ type: z.literal('command'), ...inputBase, command: text.min(1), args: z.unknown().optional() }),
]);
export type ServerInput = z.infer<typeof inputSchema>;

/** The form of a server's name in messages and rules; tools are named `server__tool`. */
export const SERVER_NAME = /^[^\s\p{Cc}](?:[^\p{Cc}]{0,98}[^\s\p{Cc}])?$/u;

/**
 * `off`: disabled, or the workspace is not trusted. `approval`: it waits for the user's approval. `lost`: the
 * connection was lost and is being restored. `failed`: it cannot be started. `sign_in`: the user must sign in.
 */
export type ServerState = 'off' | 'approval' | 'starting' | 'ready' | 'lost' | 'failed' | 'sign_in';

/** `modern`: 2026-07-28 and later; `legacy`: the revisions before it. */
export type Era = 'modern' | 'legacy';
