// The messages of the Agent Client Protocol, version 1, that Earshot accepts from a client. Unknown fields are ignored.
import * as z from 'zod';
import { levelSchema } from '../notification.ts';

export const ACP_VERSION = 1;

const sessionId = z.string().min(1).max(200);
const cwd = z.string().min(1).max(4096);

/** Parts of a prompt. For a part of an unknown type, only the type is used. */
const contentSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string() }),
  z.object({ type: z.literal('resource'), resource: z.object({ uri: z.string(), text: z.string().optional() }) }),
  z.object({ type: z.string() }),
]);
export type PromptPart = z.infer<typeof contentSchema>;

const pairs = z.array(z.object({ name: z.string().max(200), value: z.string().max(10_000) })).max(200);

/** An MCP server that a client passes with a session. */
const mcpServerSchema = z.union([
  z.object({ name: z.string(), type: z.enum(['http', 'sse']), url: z.string(), headers: pairs.default([]) }),
  z.object({ name: z.string(), command: z.string(), args: z.array(z.string()).default([]), env: pairs.default([]) }),
]);
export type ClientServer = z.infer<typeof mcpServerSchema>;
const mcpServers = z.array(mcpServerSchema).max(100).default([]);

export const acpSchemas = {
  initialize: z.object({
    protocolVersion: z.number(),
    clientCapabilities: z
      .object({ elicitation: z.object({ form: z.unknown() }).partial().nullish() })
      .partial()
      .nullish(),
  }),
  authenticate: z.object({}),
  'session/new': z.object({ cwd, mcpServers }),
  'session/load': z.object({ cwd, sessionId, mcpServers }),
  'session/resume': z.object({ cwd, sessionId, mcpServers }),
  'session/list': z.object({ cwd: cwd.nullish() }),
  'session/prompt': z.object({ sessionId, prompt: z.array(contentSchema).max(1000) }),
  'session/cancel': z.object({ sessionId }),
  'session/close': z.object({ sessionId }),
  'session/set_mode': z.object({ sessionId, modeId: z.string() }),
  'session/set_config_option': z.object({ sessionId, configId: z.string(), value: z.unknown() }),
  '_earshot/notify': z.object({
    sessionId,
    name: z.string().min(1).max(100),
    level: levelSchema.default('info'),
    message: z.string().min(1).max(10_000),
  }),
} as const;
export type AcpMethod = keyof typeof acpSchemas;
export type AcpParams<M extends AcpMethod> = z.infer<(typeof acpSchemas)[M]>;

/** A client's answer to session/request_permission. */
export const permissionAnswerSchema = z.object({
  outcome: z.object({ outcome: z.string(), optionId: z.string().optional() }),
});

/** A client's answer to elicitation/create. */
export const elicitationAnswerSchema = z.object({
  action: z.string(),
  content: z.record(z.string(), z.unknown()).nullish(),
});
