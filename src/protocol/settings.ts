// The settings with defaults and validation. A test compares them with `contributes.configuration` in package.json.
import * as z from 'zod';
import { APPROVAL_MODES, EDITOR_CONTEXTS, EFFORTS, MODES } from './page/controlsView.ts';
import { describeIssue } from './describeIssue.ts';
import { FORMATS, MODEL_APIS } from './event.ts';
import { hooksSchema } from './outside/hooks.ts';
import { MOST_EVENT_NAME } from './outside/mcpEvents.ts';
import { HUB_IDENTITY, HUB_NAME } from './hub.ts';
import { levelSchema } from './notification.ts';
import { pluginNameSchema, programSchema } from './plugin.ts';

export { EFFORTS, type Effort } from './page/controlsView.ts';

const switchesSchema = z.record(z.string(), z.boolean());

/** Options of one model; the endpoint decides absent ones. */
const modelOptionsSchema = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  reasoningEffort: z.enum(EFFORTS).optional(),
  maxTokens: z.int().min(1).optional(),
  contextWindow: z.int().min(1000).optional(),
  /** Per million tokens, all in the same currency. */
  prices: z
    .strictObject({
      input: z.number().min(0),
      output: z.number().min(0),
      cached: z.number().min(0).optional(),
      written: z.number().min(0).optional(),
    })
    .optional(),
});
export type ModelOptions = z.infer<typeof modelOptionsSchema>;

/** Headers that belong to the connection or the body, which a provider's entry cannot set. */
const RESERVED_HEADERS = /^(?:host|connection|content-.*|transfer-encoding|accept|cookie|proxy-.*|sec-.*|user-agent)$/i;

/** A provider's id is the first part of `<id>/<model>`. */
const providerIdSchema = z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/);
const providerSchema = z.strictObject({
  name: z.string().min(1).max(100).optional(),
  /** Absent: by the host. */
  api: z.enum(MODEL_APIS).optional(),
  baseUrl: z.url({ protocol: /^https?$/ }),
  /** Sent with every request to this provider, and to no other. */
  headers: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z0-9-]{1,100}$/)
        .refine((name) => !RESERVED_HEADERS.test(name), 'this header cannot be set'),
      // Printable ASCII: a line break would begin another header.
      z.string().regex(/^[\x20-\x7e]{0,8000}$/),
    )
    .optional(),
  /** The models to offer, if the provider does not list them. */
  models: z.array(z.string().min(1).max(500)).max(1000).optional(),
});

/** Per tool: which of its `tool.*` notifications are delivered. */
const toolOptionsSchema = z.strictObject({ notifications: switchesSchema.optional() });

/** An event of an MCP server to which conversations are subscribed. */
const subscribedEventSchema = z.strictObject({
  server: z.string().min(1).max(100),
  event: z.string().min(1).max(MOST_EVENT_NAME),
  arguments: z.record(z.string(), z.unknown()).optional(),
  /** Its events may wake the model. */
  wake: z.boolean().optional(),
  /** `new`: those that begin from now on; absent: all that are open. */
  conversations: z.enum(['all', 'new']).optional(),
});

/** The built-in producers. Others may be registered under other names. */
export const PRODUCER_NAMES = [
  'files',
  'git',
  'editor',
  'diagnostics',
  'tasks',
  'terminals',
  'handles',
  'mcp',
  'budget',
  'config',
  'messages',
  'wakes',
  'lines',
  'scripts',
  'focus',
  'forge',
  'debug',
  'ports',
  'devservers',
  'tests',
  'notebooks',
  'dependencies',
] as const;

/** How CI and pull requests are asked for; `ask`: the user has not chosen yet. */
const FORGE_WAYS = ['ask', 'off', 'gh', 'account'] as const;
export type ForgeWay = (typeof FORGE_WAYS)[number];

/** Every setting by its name under `earshot.`, with its default. */
export const settingSchemas = {
  model: z.string().default(''),
  baseUrl: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]).default(''),
  providers: z.record(providerIdSchema, providerSchema).default({}),
  models: z.record(z.string(), modelOptionsSchema).default({}),
  mode: z.enum(MODES).default('agent'),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .default('USD'),
  'attention.toast': z.boolean().default(true),
  'attention.sound': z.boolean().default(false),
  'attention.systemNotice': z.boolean().default(false),
  sendKey: z.enum(['enter', 'modifierEnter']).default('enter'),
  'agents.depth': z.int().min(0).max(3).default(1),
  'limits.tokens': z.int().min(0).default(0),
  'limits.cost': z.number().min(0).default(0),
  idleTimeout: z.int().min(5).max(3600).default(300),
  'approvals.mode': z.enum(APPROVAL_MODES).default('reads'),
  'approvals.commands': z.array(z.string()).default([]),
  'approvals.outsideText': z.enum(['ask', 'mark']).default('ask'),
  'mcp.servers': z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  'mcp.inputs': z.array(z.record(z.string(), z.unknown())).default([]),
  'mcp.trustedReadOnly': z.array(z.string()).default([]),
  'mcp.events': z.array(subscribedEventSchema).max(50).default([]),
  'mcp.timeout': z.int().min(1).max(3600).default(60),
  'handles.afterTurn': z.enum(['keep', 'wait', 'stop']).default('keep'),
  'handles.ownerTimeout': z.int().min(5).max(3600).default(30),
  'notifications.enable': z.boolean().default(true),
  'notifications.kinds': z.record(z.string(), switchesSchema).default({}),
  'notifications.producers': switchesSchema.default({}),
  'notifications.levels': z.record(z.string(), levelSchema).default({}),
  'notifications.tasks': z.enum(['all', 'own']).default('all'),
  'notifications.ignoredPaths': z.array(z.string().min(1).max(1000)).default([]),
  'notifications.activation': z.enum(['interrupt', 'wake', 'passive']).default('interrupt'),
  'notifications.format': z.enum(['auto', ...FORMATS]).default('auto'),
  'notifications.cap': z.int().min(1).max(100).default(10),
  'notifications.tokenBudget': z.int().min(300).max(100_000).default(1500),
  tools: z.record(z.string(), toolOptionsSchema).default({}),
  hooks: hooksSchema.default({}),
  'hub.enabled': z.boolean().default(true),
  'hub.role': z.union([z.literal(''), z.string().regex(HUB_NAME)]).default(''),
  'hub.port': z.int().min(0).max(65_535).default(9999),
  'hub.identity': z.union([z.literal(''), z.string().regex(HUB_IDENTITY)]).default(''),
  'hub.allowedOrigins': z.array(z.string().min(1).max(1000)).default([]),
  // Checked together by `hub/nats/joinOptions.ts`, whose messages say what to do.
  'hub.server': z.string().max(4096).default(''),
  'hub.name': z.string().max(64).default(''),
  'hub.machine': z.string().max(64).default(''),
  'hub.credentials': z.string().max(4096).default(''),
  'plugins.programs': z.record(pluginNameSchema, programSchema).default({}),
  'plugins.respondTimeout': z.int().min(1).max(86_400).default(300),
  'plugins.respondFallback': z.enum(['reject', 'approve']).default('reject'),
  'webChat.allowedHosts': z.array(z.string().min(1).max(300)).max(50).default([]),
  'scripts.wake': z.boolean().default(false),
  'scripts.post': z.boolean().default(false),
  forge: z.enum(FORGE_WAYS).default('ask'),
  'debug.locals': z.boolean().default(false),
  'tests.reports': z.array(z.string().min(1).max(1000)).max(50).default([]),
  editorContext: z.enum(EDITOR_CONTEXTS).default('file'),
} as const;

export type SettingName = keyof typeof settingSchemas;
export type Settings = { readonly [N in SettingName]: z.infer<(typeof settingSchemas)[N]> };

export interface SettingProblem {
  readonly name: string;
  readonly message: string;
}

/** The options of a model, by `<provider>/<model>` or by the model's name alone. */
export function modelOptions({ models }: Pick<Settings, 'models'>, reference: string): ModelOptions {
  const name = [reference, reference.slice(reference.indexOf('/') + 1)].find((one) => Object.hasOwn(models, one));
  return (name === undefined ? undefined : models[name]) ?? {};
}

/** Reads each setting separately: an invalid value is reported and replaced by its default. */
export function readSettings(get: (name: SettingName) => unknown): { settings: Settings; problems: SettingProblem[] } {
  const problems: SettingProblem[] = [];
  const entries = Object.entries(settingSchemas).map(([name, schema]) => {
    const parsed = schema.safeParse(get(name as SettingName) ?? undefined);
    if (parsed.success) return [name, parsed.data];
    problems.push({ name: `earshot.${name}`, message: describeIssue(parsed.error) });
    return [name, schema.parse(undefined)];
  });
  return { settings: Object.fromEntries(entries) as Settings, problems };
}
