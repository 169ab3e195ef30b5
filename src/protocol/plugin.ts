// The messages between Earshot and program plugins (WIRE A and D): one JSON object per line. The verbs of a client are
// lines by the column `wire` of their table; the other messages are here.
import * as z from 'zod';
import { type Verb, type VerbParams, VERBS, type VerbResult } from './client/verbs.ts';

/** The version of the protocol that this host speaks. */
export const PLUGIN_PROTOCOL = 1;
/** A plugin that sends a longer line is ended. */
export const LONGEST_LINE = 8 * 1024 * 1024;
/** Means every conversation of the workspace. */
export const EVERY_CONVERSATION = '*';

export const pluginNameSchema = z.string().regex(/^[a-z0-9_-]{1,32}$/, 'a name has 1 to 32 of a-z, 0-9, _ and -');

const id = z.string().optional();
const conversation = z.string();
const seq = z.int().min(0);
const lastSeq = z.union([seq, z.record(z.string(), seq)]);

/** Verbs of which several share one request, or whose request has more fields. */
type JoinedVerb = 'send' | 'resend' | 'queue' | 'interrupt' | 'stop' | 'approve' | 'answer';
const JOINED: readonly Verb[] = ['send', 'resend', 'queue', 'interrupt', 'stop', 'approve', 'answer'];
type DirectVerb = Exclude<Verb, JoinedVerb>;
type WireRequest<V extends Verb> = (typeof VERBS)[V]['wire']['request'];
type WireReply<V extends Verb> = (typeof VERBS)[V]['wire']['reply'];

const isDirect = (verb: Verb): verb is DirectVerb => !JOINED.includes(verb);
export const DIRECT_VERBS: readonly DirectVerb[] = (Object.keys(VERBS) as Verb[]).filter(isDirect);

/** The requests that are a verb each. */
type DirectRequests = {
  readonly [V in DirectVerb as WireRequest<V>]: VerbParams<V> & { readonly type: WireRequest<V>; readonly id?: string };
};
const directSchemas = Object.fromEntries(
  DIRECT_VERBS.map((verb) => {
    const { params, wire } = VERBS[verb];
    return [wire.request, (params as z.ZodObject).extend({ type: z.literal(wire.request), id })];
  }),
) as unknown as { readonly [T in keyof DirectRequests]: z.ZodType<DirectRequests[T]> };

const { approve, answer, send, queue } = VERBS;

const otherSchemas = {
  ready: z.object({ type: z.literal('ready'), protocol: z.int().min(1).default(PLUGIN_PROTOCOL) }),
  describe: z.object({
    type: z.literal('describe'),
    name: z.string(),
    version: z.string(),
    description: z.string(),
    command: z.union([z.string(), z.array(z.string())]).optional(),
  }),
  exit: z.object({ type: z.literal('exit'), code: z.int().default(0), reason: z.string().optional() }),
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
    since: lastSeq.optional(),
    /** Also sends the output of running calls in this window, as pieces of their `tool_call_response`. */
    output: z.boolean().optional(),
    /** False: open requests do not come with it. */
    requests: z.boolean().optional(),
    id,
  }),
  unsubscribe: z.object({ type: z.literal('unsubscribe'), sub_id: z.string(), id }),
  /** Without `sub_id`, any subscription of the plugin counts. */
  respond: z.discriminatedUnion('respond', [
    approve.params.extend({
      type: z.literal('respond'),
      sub_id: z.string().optional(),
      respond: z.literal('tool_approval'),
      /** Needed where calls of several conversations have the same id. */
      conversation: conversation.optional(),
      id,
    }),
    answer.params.extend({
      type: z.literal('respond'),
      sub_id: z.string().optional(),
      respond: z.literal('inquiry'),
      id,
    }),
  ]),
  query: send.params.extend({
    type: z.literal('query'),
    conversation: conversation.optional(),
    /** Absent only with `instead_of`: the text of that message. */
    content: z.string().optional(),
    new: z.boolean().optional(),
    /** The `event_id` of an earlier `chat_request`; the query replaces it, in a fork that ends before that request. */
    instead_of: z.string().optional(),
    sub_id: z.string().min(1).max(200).optional(),
    title: z.string().optional(),
    id,
  }),
  interrupt: queue.params.extend({
    type: z.literal('interrupt'),
    action: z.enum(['stop', 'reply', 'queue']),
    content: z.string().optional(),
    /** `send`: without a running turn the message starts one; otherwise that is an error. */
    idle: z.literal('send').optional(),
    id,
  }),
  cancel_query: z.object({ type: z.literal('cancel_query'), conversation, id }),
} as const;

/** The requests of a plugin, by `type`. Unknown fields are ignored, so that a plugin may be newer than the host. */
export const requestSchemas = { ...otherSchemas, ...directSchemas };

type PluginRequests = DirectRequests & {
  readonly [T in keyof typeof otherSchemas]: z.infer<(typeof otherSchemas)[T]>;
};
type RequestType = keyof PluginRequests;
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

/** A piece of an answer: `index` numbers the parts (reasoning, message), `offset` is its UTF-16 offset in the part. */
const partialSchema = z.strictObject({ response: z.string(), index: z.int().min(0), offset: z.int().min(0) });

const otherMessages = [
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
  /** `matched` comes after `notify`, the message after `withdraw_queued`. */
  z.strictObject({
    type: z.literal('done'),
    id,
    ...VERBS.notify.result.partial().shape,
    ...VERBS.withdraw_queued.result.shape,
  }),
  z.strictObject({ type: z.literal('subscribed'), id, sub_id: z.string(), seq: lastSeq }),
  z.strictObject({ type: z.literal('unsubscribed'), id, sub_id: z.string() }),
  z.strictObject({ type: z.literal('watching'), id, scopes: z.array(z.string()) }),
  z.strictObject({ type: z.literal('pending'), id, text: z.string(), through: z.int().min(0) }),
  z.strictObject({ type: z.literal('waited'), id, woken: z.boolean(), replaced: z.boolean() }),
  z.strictObject({ type: z.literal('pending_changed'), id, count: z.int().min(0) }),
  z.strictObject({ type: z.literal('notifications'), id, text: z.string() }),
  z.strictObject({ type: z.literal('called'), id, text: z.string() }),
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
] as const;

/** The replies that have the results of verbs, by type. */
type VerbReplies = {
  readonly [V in Verb as Exclude<WireReply<V>, 'done'>]: VerbResult<V> & {
    readonly type: WireReply<V>;
    readonly id?: string | undefined;
  };
};
const replySchemas = new Map(
  Object.values(VERBS)
    .filter(({ wire }) => wire.reply !== 'done')
    .map(({ wire, result }) => [wire.reply, z.strictObject({ type: z.literal(wire.reply), id, ...result.shape })]),
);

export type HostMessage = z.infer<(typeof otherMessages)[number]> | VerbReplies[keyof VerbReplies];
export type HostMessageOf<T extends HostMessage['type']> = Extract<HostMessage, { type: T }>;

/** The messages of the host. Tests check every line of the host against these. */
export const hostMessageSchema = z.discriminatedUnion('type', [
  ...otherMessages,
  ...replySchemas.values(),
]) as unknown as z.ZodType<HostMessage>;

/** The replies to requests that have one. */
export type HostReplies = {
  readonly [V in DirectVerb as WireRequest<V>]: HostMessageOf<WireReply<V>>;
} & {
  readonly subscribe: HostMessageOf<'subscribed'>;
  readonly unsubscribe: HostMessageOf<'unsubscribed'>;
  readonly respond: HostMessageOf<'done'>;
  readonly query: HostMessageOf<'query_started'>;
  readonly interrupt: HostMessageOf<'done'>;
  readonly cancel_query: HostMessageOf<'done'>;
};

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
