// The messages between Earshot and program plugins (WIRE A and D): one JSON object per line.
import * as z from 'zod';
import { levelSchema } from './notification.ts';
import { TRIGGERS } from './page/completionsView.ts';
import { APPROVAL_MODES, EFFORT_CHOICES, listedChoiceSchema, MODES } from './page/controlsView.ts';
import { commandSchema, completionSchema, modelSchema, offeredModelSchema } from './page/windowView.ts';
import { alwaysAnswerSchema } from './transcript.ts';

/** The version of the protocol that this host speaks. */
export const PLUGIN_PROTOCOL = 1;
/** A plugin that sends a longer line is ended. */
export const LONGEST_LINE = 8 * 1024 * 1024;
/** Means every conversation of the workspace. */
export const EVERY_CONVERSATION = '*';

export const pluginNameSchema = z.string().regex(/^[a-z0-9_-]{1,32}$/, 'a name has 1 to 32 of a-z, 0-9, _ and -');

const id = z.string().optional();
const conversation = z.string();
const inOne = conversation.optional();
const seq = z.int().min(0);

/** `file` is read by the host, through the same guard as `read_file`. */
const attachmentSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('file_content'), path: z.string(), content: z.string() }),
  z.object({ type: z.literal('file'), path: z.string() }),
  /** An image that this plugin has stored with `store_image`. */
  z.object({
    type: z.literal('image'),
    media_type: z.string().max(100),
    hash: z.string().max(200),
    name: z.string().max(300).optional(),
  }),
]);
const attachments = z.array(attachmentSchema).max(100).optional();

/** The requests of a plugin, by `type`. Unknown fields are ignored, so that a plugin may be newer than the host. */
export const requestSchemas = {
  ready: z.object({ type: z.literal('ready'), protocol: z.int().min(1).default(PLUGIN_PROTOCOL) }),
  describe: z.object({
    type: z.literal('describe'),
    name: z.string(),
    version: z.string(),
    description: z.string(),
    command: z.union([z.string(), z.array(z.string())]).optional(),
  }),
  exit: z.object({ type: z.literal('exit'), code: z.int().default(0), reason: z.string().optional() }),
  list_conversations: z.object({ type: z.literal('list_conversations'), id }),
  /** Creates an empty conversation. */
  create: z.object({ type: z.literal('create'), title: z.string().optional(), id }),
  read_events: z.object({ type: z.literal('read_events'), conversation, id }),
  read_config: z.object({ type: z.literal('read_config'), path: z.string().optional(), id }),
  print: z.object({
    type: z.literal('print'),
    text: z.string(),
    channel: z.string().optional(),
    format: z.string().optional(),
    language: z.string().optional(),
    id,
  }),
  log: z.object({
    type: z.literal('log'),
    level: z.union([z.enum(['error', 'warn', 'warning', 'info', 'debug', 'trace']), z.int().min(0).max(4)]),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()).optional(),
    id,
  }),
  subscribe: z.object({
    type: z.literal('subscribe'),
    sub_id: z.string().min(1).max(200),
    conversation,
    events: z.array(z.string()).max(1000).optional(),
    since: z.union([seq, z.record(z.string(), seq)]).optional(),
    /** Also sends the output of running calls in this window, as pieces of their `tool_call_response`. */
    output: z.boolean().optional(),
    id,
  }),
  unsubscribe: z.object({ type: z.literal('unsubscribe'), sub_id: z.string(), id }),
  respond: z.discriminatedUnion('respond', [
    z.object({
      type: z.literal('respond'),
      sub_id: z.string(),
      respond: z.literal('tool_approval'),
      /** Needed where calls of several conversations have the same id. */
      conversation: conversation.optional(),
      tool_call_id: z.string(),
      action: z.enum(['approve', 'reject', 'modify']),
      arguments: z.record(z.string(), z.unknown()).optional(),
      reason: z.string().optional(),
      /** With `approve`: what the event's `always` covers needs no approval from now on. */
      always: alwaysAnswerSchema.optional(),
      /** The event's `revision`: *approve* fails if the request has changed since. */
      revision: z.number().optional(),
      id,
    }),
    z.object({
      type: z.literal('respond'),
      sub_id: z.string(),
      respond: z.literal('inquiry'),
      inquiry_id: z.string(),
      answer: z.union([z.string(), z.array(z.string())]),
      id,
    }),
  ]),
  query: z.object({
    type: z.literal('query'),
    conversation: conversation.optional(),
    content: z.string(),
    attachments,
    schema: z.record(z.string(), z.unknown()).nullish(),
    new: z.boolean().optional(),
    /** The `event_id` of an earlier `chat_request`; the query replaces it, in a fork that ends before that request. */
    instead_of: z.string().optional(),
    sub_id: z.string().min(1).max(200).optional(),
    title: z.string().optional(),
    id,
  }),
  interrupt: z.object({
    type: z.literal('interrupt'),
    conversation,
    action: z.enum(['stop', 'reply', 'queue']),
    content: z.string().optional(),
    attachments,
    id,
  }),
  /** Continues a failed turn with the same messages. */
  retry: z.object({ type: z.literal('retry'), conversation, id }),
  /** A queued message is named by the `event_id` of its `user_text_queued`. */
  withdraw_queued: z.object({ type: z.literal('withdraw_queued'), conversation, queued_id: z.string(), id }),
  /** The call returns, and its command continues as a background command. */
  move_to_background: z.object({ type: z.literal('move_to_background'), conversation, tool_call_id: z.string(), id }),
  /** A command is named by the call that started it. */
  stop_command: z.object({ type: z.literal('stop_command'), conversation, tool_call_id: z.string(), id }),
  /** Lists the commands with their last output, the newest last. */
  list_commands: z.object({ type: z.literal('list_commands'), conversation, id }),
  rename_conversation: z.object({ type: z.literal('rename_conversation'), conversation, title: z.string(), id }),
  /** Creates a conversation with the history so far. */
  fork_conversation: z.object({ type: z.literal('fork_conversation'), conversation, id }),
  delete_conversation: z.object({ type: z.literal('delete_conversation'), conversation, id }),
  store_image: z.object({
    type: z.literal('store_image'),
    media_type: z.string().max(100),
    /** Base64. */
    data: z.string(),
    id,
  }),
  /** An image or a recording that a result or a message of the conversation names, by its hash. */
  read_media: z.object({ type: z.literal('read_media'), conversation, hash: z.string().max(200), id }),
  /** Requests completions after `@` (files to attach) or `/` (texts to insert). */
  complete: z.object({ type: z.literal('complete'), trigger: z.enum(TRIGGERS), query: z.string().max(300), id }),
  /** Requests the current model, and with `all` every model that can be chosen, for which endpoints are asked. */
  list_models: z.object({ type: z.literal('list_models'), all: z.boolean().optional(), conversation: inOne, id }),
  /** For a conversation and for new ones; without a conversation only for new ones. `model` is an id from `list_models`. */
  choose: z.object({
    type: z.literal('choose'),
    model: z.string().max(5000).optional(),
    effort: z.enum(EFFORT_CHOICES).optional(),
    conversation: inOne,
    mode: z.enum(MODES).optional(),
    approvals: z.enum(APPROVAL_MODES).optional(),
    id,
  }),
  cancel_query: z.object({ type: z.literal('cancel_query'), conversation, id }),
  deliver_now: z.object({ type: z.literal('deliver_now'), conversation, id }),
  dismiss: z.object({
    type: z.literal('dismiss'),
    conversation,
    notification_ids: z.array(z.string()).min(1).max(10_000),
    id,
  }),
  notify: z.object({
    type: z.literal('notify'),
    kind: z.object({ source: z.string().min(1).max(60).optional(), name: z.string().min(1).max(100) }),
    level: levelSchema,
    message: z.string().min(1),
    conversation: conversation.optional(),
    subject: z.string().min(1).max(5000).optional(),
    scopes: z.array(z.string().min(1).max(5000)).max(1000).optional(),
    data: z.record(z.string(), z.unknown()).optional(),
    id,
  }),
} as const;

export type RequestType = keyof typeof requestSchemas;
type PluginRequests = { readonly [T in RequestType]: z.infer<(typeof requestSchemas)[T]> };
export type PluginRequest = PluginRequests[RequestType];
export type RequestOf<T extends RequestType> = PluginRequests[T];
export type PluginDescription = Omit<RequestOf<'describe'>, 'type'>;

/**
 * The first line on the window's socket (WIRE D). `token` is needed on Windows, where a pipe has no mode. `listener` is
 * the outside agent that wants notifications, `session` its own name for its session, `client` identifies its process.
 */
export const attachSchema = z.object({
  type: z.literal('attach'),
  name: pluginNameSchema,
  version: z.string().max(100),
  listener: pluginNameSchema.optional(),
  session: z.string().min(1).max(500).optional(),
  client: z.string().min(1).max(500).optional(),
  token: z.string().optional(),
  /**
   * A program that wants to answer approvals listens on this port of 127.0.0.1, and the window connects to it: only so
   * can the window find out which process it is. It sends `secret` back in its first line.
   */
  call_back: z.object({ port: z.int().min(1).max(65_535), secret: z.string().min(16).max(200) }).optional(),
});
export type Attach = z.infer<typeof attachSchema>;
export type CallBack = NonNullable<Attach['call_back']>;

const lastSeq = z.union([seq, z.record(z.string(), seq)]);

const conversationSummary = z.strictObject({
  id: z.string(),
  title: z.string().nullable(),
  last_activated_at: z.iso.datetime(),
  pinned_at: z.iso.datetime().optional(),
  events_count: z.int().min(0),
  /** Set for a subagent: the conversation that started it, and its name there. */
  subagent: z.strictObject({ parent: z.string(), name: z.string() }).optional(),
  choice: listedChoiceSchema.optional(),
});

/** A piece of an answer: `index` numbers the parts (reasoning, message), `offset` is its UTF-16 offset in the part. */
const partialSchema = z.strictObject({ response: z.string(), index: z.int().min(0), offset: z.int().min(0) });

/** The messages of the host. Tests check every line of the host against these. */
export const hostMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('init'),
    version: z.literal(PLUGIN_PROTOCOL),
    workspace: z.strictObject({ root: z.string().nullable(), storage: z.string(), id: z.string() }),
    paths: z.record(z.string(), z.string()),
    config: z.record(z.string(), z.unknown()),
    options: z.record(z.string(), z.unknown()),
    args: z.array(z.string()),
    log_level: z.int().min(0).max(4),
    output_format: z.string(),
  }),
  z.strictObject({ type: z.literal('describe') }),
  z.strictObject({ type: z.literal('shutdown') }),
  z.strictObject({
    type: z.literal('error'),
    id,
    /** The request's `type`; empty if the line had none. */
    request: z.string(),
    message: z.string(),
    /** A subscription that the host ended, and the last event that it got. */
    sub_id: z.string().optional(),
    seq: lastSeq.optional(),
  }),
  z.strictObject({ type: z.literal('done'), id, matched: z.int().min(0).optional() }),
  z.strictObject({ type: z.literal('conversations'), id, data: z.array(conversationSummary) }),
  z.strictObject({
    type: z.literal('events'),
    id,
    conversation,
    lock: z.enum(['free', 'elsewhere', 'here']),
    title: z.string().nullable().optional(),
    data: z.array(z.record(z.string(), z.unknown())),
  }),
  z.strictObject({ type: z.literal('config'), id, path: z.string().optional(), data: z.unknown() }),
  z.strictObject({ type: z.literal('subscribed'), id, sub_id: z.string(), seq: lastSeq }),
  z.strictObject({ type: z.literal('unsubscribed'), id, sub_id: z.string() }),
  z.strictObject({ type: z.literal('created'), id, conversation }),
  z.strictObject({ type: z.literal('forked'), id, conversation }),
  z.strictObject({ type: z.literal('image'), id, hash: z.string() }),
  /** Without `data`, the image or recording is not stored any more. */
  z.strictObject({ type: z.literal('media'), id, hash: z.string(), data: z.string().optional() }),
  z.strictObject({ type: z.literal('commands'), id, data: z.array(commandSchema) }),
  z.strictObject({ type: z.literal('completions'), id, data: z.array(completionSchema) }),
  z.strictObject({ type: z.literal('models'), id, current: modelSchema, data: z.array(offeredModelSchema) }),
  z.strictObject({ type: z.literal('query_started'), id, conversation, turn: z.string() }),
  z.strictObject({ type: z.literal('watching'), id, scopes: z.array(z.string()) }),
  z.strictObject({ type: z.literal('pending'), id, text: z.string(), through: z.int().min(0) }),
  z.strictObject({ type: z.literal('pending_changed'), id, count: z.int().min(0) }),
  z.strictObject({ type: z.literal('notifications'), id, text: z.string() }),
  z.strictObject({
    type: z.literal('event'),
    sub_id: z.string(),
    conversation,
    seq: seq.optional(),
    /** For a complete answer: the `partial.response` of its pieces. */
    response: z.string().optional(),
    partial: partialSchema.optional(),
    respond: z.enum(['tool_approval', 'inquiry']).optional(),
    data: z.looseObject({ type: z.string() }),
  }),
]);
export type HostMessage = z.infer<typeof hostMessageSchema>;
export type HostMessageOf<T extends HostMessage['type']> = Extract<HostMessage, { type: T }>;

/** The replies to requests that have one. */
export interface HostReplies {
  readonly list_conversations: HostMessageOf<'conversations'>;
  readonly create: HostMessageOf<'created'>;
  readonly read_events: HostMessageOf<'events'>;
  readonly read_config: HostMessageOf<'config'>;
  readonly subscribe: HostMessageOf<'subscribed'>;
  readonly unsubscribe: HostMessageOf<'unsubscribed'>;
  readonly respond: HostMessageOf<'done'>;
  readonly query: HostMessageOf<'query_started'>;
  readonly retry: HostMessageOf<'query_started'>;
  readonly interrupt: HostMessageOf<'done'>;
  readonly cancel_query: HostMessageOf<'done'>;
  readonly withdraw_queued: HostMessageOf<'done'>;
  readonly move_to_background: HostMessageOf<'done'>;
  readonly stop_command: HostMessageOf<'done'>;
  readonly list_commands: HostMessageOf<'commands'>;
  readonly rename_conversation: HostMessageOf<'done'>;
  readonly fork_conversation: HostMessageOf<'forked'>;
  readonly delete_conversation: HostMessageOf<'done'>;
  readonly store_image: HostMessageOf<'image'>;
  readonly read_media: HostMessageOf<'media'>;
  readonly complete: HostMessageOf<'completions'>;
  readonly list_models: HostMessageOf<'models'>;
  readonly choose: HostMessageOf<'done'>;
  readonly deliver_now: HostMessageOf<'done'>;
  readonly dismiss: HostMessageOf<'done'>;
  readonly notify: HostMessageOf<'done'>;
}

/** The fields of a request without its type and its id. */
export type RequestFields<T extends RequestType> =
  RequestOf<T> extends infer R ? (R extends unknown ? Omit<R, 'type' | 'id'> : never) : never;

/** An open question was answered, by anybody; without `action` and `answer` it was cancelled. */
export interface ResolvedData {
  readonly type: 'resolved';
  readonly tool_call_id?: string;
  readonly inquiry_id?: string;
  readonly action?: 'approve' | 'reject' | 'modify';
  readonly answer?: string | readonly string[];
  readonly by: string;
}

export const queryCompleteSchema = z.object({
  type: z.literal('query_complete'),
  turn: z.string(),
  /** An outcome that the reader does not know counts as an error, so that nobody waits forever. */
  outcome: z.enum(['done', 'stopped', 'error']).catch('error'),
  /** The answer, if a schema was given. */
  data: z.unknown().optional(),
  /** Why the turn failed or was stopped. */
  message: z.string().optional(),
});
export type QueryCompleteData = z.infer<typeof queryCompleteSchema>;

/** No system can start a program with a NUL character in an argument. */
const withoutNul = z.string().refine((text) => !text.includes('\0'), 'it has a NUL character');

/** One entry of `earshot.plugins.programs`. */
export const programSchema = z.strictObject({
  command: z.array(withoutNul).min(1),
  run: z.enum(['ask', 'allow', 'deny']).default('ask'),
  start: z.enum(['manual', 'window']).default('manual'),
  options: z.record(z.string(), z.unknown()).default({}),
  approve: z.boolean().default(false),
});
export type Program = z.infer<typeof programSchema>;
