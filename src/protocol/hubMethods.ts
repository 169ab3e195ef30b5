// The hub's methods with their parameters and results, and what it pushes (WIRE B). The hub and its clients share it.
import * as z from 'zod';
import { hubName, linkHealth, pair } from './hub.ts';

export const MOST_PAGE = 100;
/** Long enough for `<name>-<machine>` and a digit, which may name an agent of another machine. */
const LONGEST_MENTION = 80;

const text = (longest: number) => z.string().max(longest);
const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();
const string = z.string();
const id = text(64);
const cursor = text(32);
const page = { after: cursor.optional(), limit: z.int().min(1).max(MOST_PAGE).optional() };
const pairs = z.array(pair).max(100).readonly();
const none = z.strictObject({});

const author = z.object({
  agent_id: string,
  name: string,
  role: string,
  module: string,
  /** Set for an author on another machine. */
  machine: string.optional(),
});

const hubMessage = z.object({
  message_id: string,
  thread_id: string.nullable(),
  reply_to: string.optional(),
  author,
  body: z.object({ format: string, content: string, structured: z.unknown().optional() }),
  scopes: list(pair),
  refs: list(pair),
  created_at: string,
  updated_at: string.optional(),
  version: z.int(),
  deleted: z.boolean(),
  is_read: z.boolean(),
  /** The position on the hub. */
  cursor: string,
});
export type HubMessage = Readonly<z.infer<typeof hubMessage>>;

/** `notification.message`: a message that matches a subscription of the session. */
export const messagePush = hubMessage
  .pick({ message_id: true, thread_id: true, author: true, scopes: true, cursor: true })
  .extend({
    preview: string,
    edited: z.boolean().optional(),
    timestamp: string,
    matched_subscription: z.object({ match_type: z.enum(['mention', 'scope', 'all']) }),
  });
export type MessagePush = Readonly<z.infer<typeof messagePush>>;
export type MatchType = MessagePush['matched_subscription']['match_type'];

const hubThread = z.object({
  thread_id: string,
  title: string,
  message_count: z.int(),
  unread_count: z.int(),
  last_activity: string,
  last_sender: string,
  preview: string,
  created_by: string,
  created_at: string,
});
export type HubThread = Readonly<z.infer<typeof hubThread>>;

const hubAgent = z.object({
  agent_id: string,
  role: string,
  module: string,
  display: string,
  /** Set for an agent of another machine. */
  machine: string.optional(),
  live: z.boolean(),
  last_seen_at: string,
  /** Unread messages that mention it. */
  unread: z.int().optional(),
});
export type ListedHubAgent = Readonly<z.infer<typeof hubAgent>>;

const started = z.object({ session_id: string, agent_id: string, started_at: string, cursor: string });
const messagePage = { messages: list(hubMessage), after: string, more: z.boolean() };

const health = z.object({
  status: z.literal('ok'),
  version: string,
  uptime_ms: z.number(),
  agents: z.int(),
  sessions: z.int(),
  messages: z.int(),
  ...linkHealth.partial().shape,
});
export type HubHealth = Readonly<z.infer<typeof health>>;

interface Method {
  readonly params: z.ZodType;
  readonly result: z.ZodType;
  /** It changes nothing. */
  readonly reads?: true;
}

export const HUB_METHODS = {
  'agent.register': {
    params: z.strictObject({
      name: hubName,
      /** Empty if there is none. */
      role: z.union([z.literal(''), hubName]).optional(),
      module: text(64).optional(),
      display: text(200).optional(),
    }),
    result: z.object({ agent_id: string, status: z.enum(['registered', 'updated']) }),
  },
  'agent.unregister': { params: z.strictObject({ agent_id: hubName }), result: z.object({ removed: z.boolean() }) },
  'agent.list': { params: none, result: z.object({ agents: list(hubAgent) }), reads: true },
  'agent.whoami': {
    params: none,
    result: hubAgent
      .pick({ agent_id: true, role: true, module: true, display: true })
      .extend({ session_id: string, known_as: string.optional() }),
    reads: true,
  },
  'session.start': { params: z.strictObject({ agent_id: hubName }), result: started },
  'session.attach': { params: z.strictObject({ session_id: id }), result: started },
  'session.end': { params: z.strictObject({ session_id: id.optional() }), result: z.object({ ended: z.boolean() }) },
  'session.list': {
    params: none,
    result: z.object({
      sessions: list(
        z.object({
          /** Only of the caller's own: it is the secret of its agent. */
          session_id: string.optional(),
          agent_id: string,
          started_at: string,
          live: z.boolean(),
          last_seen_at: string,
        }),
      ),
    }),
    reads: true,
  },
  'session.heartbeat': { params: none, result: z.object({ last_seen_at: string }) },
  'message.send': {
    params: z.strictObject({
      content: string,
      format: z.enum(['markdown', 'plain', 'json']).optional(),
      structured: z.unknown().optional(),
      thread_id: id.optional(),
      reply_to: id.optional(),
      scopes: pairs.optional(),
      refs: pairs.optional(),
      mentions: z
        .array(text(LONGEST_MENTION).regex(/^@?[^@]/, 'must name an agent or a role'))
        .max(100)
        .readonly()
        .optional(),
      client_id: z.string().min(1).max(128).optional(),
    }),
    result: z.object({ message_id: string, thread_id: string.optional(), created_at: string }),
  },
  'message.get': {
    params: z.strictObject({ message_id: id }),
    result: z.object({ message: hubMessage }),
    reads: true,
  },
  'message.list': {
    params: z.strictObject({
      scope: pair.optional(),
      mention: z.string().min(1).max(LONGEST_MENTION).optional(),
      thread_id: id.optional(),
      author: z.string().min(1).max(128).optional(),
      unread: z.boolean().optional(),
      ...page,
    }),
    result: z.object({ ...messagePage, unread: z.int() }),
    reads: true,
  },
  'message.edit': {
    params: z.strictObject({ message_id: id, content: string, structured: z.unknown().optional() }),
    result: z.object({ message_id: string, updated_at: string, version: z.int() }),
  },
  'message.delete': {
    params: z.strictObject({ message_id: id }),
    result: z.object({ message_id: string, deleted_at: string, version: z.int() }),
  },
  'message.markRead': {
    params: z.strictObject({ message_ids: z.array(id).min(1).max(1000).readonly() }),
    result: z.object({ marked: z.int() }),
  },
  'thread.create': {
    params: z.strictObject({ title: z.string().min(1).max(200), scopes: pairs.optional() }),
    result: z.object({ thread_id: string, created_at: string }),
  },
  'thread.list': {
    params: z.strictObject(page),
    result: z.object({ threads: list(hubThread), after: string, more: z.boolean() }),
    reads: true,
  },
  'thread.get': {
    params: z.strictObject({ thread_id: id, ...page }),
    result: z.object({ thread: hubThread, ...messagePage }),
    reads: true,
  },
  /** `hub/methods.ts` checks that exactly one of the three is given, with its own error messages. */
  subscribe: {
    params: z.strictObject({
      scope: pair.optional(),
      mention_role: z.string().min(1).max(64).optional(),
      all: z.literal(true, 'must be true').optional(),
    }),
    result: z.object({ subscription_id: z.int(), session_id: string, created_at: string }),
  },
  unsubscribe: { params: z.strictObject({ subscription_id: z.int() }), result: z.object({ removed: z.boolean() }) },
  'subscriptions.list': {
    params: none,
    result: z.object({
      subscriptions: list(
        z.object({
          id: z.int(),
          scope_type: string.optional(),
          scope_value: string.optional(),
          mention_role: string.optional(),
          all: z.literal(true).optional(),
          created_at: string,
        }),
      ),
    }),
    reads: true,
  },
  /** `watch`: later changes of the server's health are pushed as `notification.health`. */
  health: { params: z.strictObject({ watch: z.boolean().optional() }), result: health, reads: true },
} as const satisfies Readonly<Record<string, Method>>;

export type HubMethod = keyof typeof HUB_METHODS;

export function isHubMethod(name: string): name is HubMethod {
  return Object.hasOwn(HUB_METHODS, name);
}

/** Whether the method changes nothing. */
export function onlyReads(name: string): boolean {
  return isHubMethod(name) && 'reads' in HUB_METHODS[name];
}

export type HubParams<M extends HubMethod> = Readonly<z.infer<(typeof HUB_METHODS)[M]['params']>>;
export type HubResult<M extends HubMethod> = Readonly<z.infer<(typeof HUB_METHODS)[M]['result']>>;
/** Calls a method of the hub. Rejects with a `JsonRpcError` if the hub refuses. */
export type HubCall = <M extends HubMethod>(method: M, params: HubParams<M>) => Promise<HubResult<M>>;
