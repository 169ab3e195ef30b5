// The hub's names, the records of its files, its address and its health (WIRE B).
import * as z from 'zod';

/** Names and roles share one alphabet, which is also legal in a NATS subject. */
export const HUB_NAME = /^[a-z0-9_-]{1,32}$/;
/** `name`, `name:role` or `name:role:module`. */
export const HUB_IDENTITY = /^[a-z0-9_-]{1,32}(?::[a-z0-9_-]{0,32}(?::[^:]{0,64})?)?$/;
const RESERVED_NAMES: readonly string[] = ['system', 'all', 'everyone'];
/** Names that no agent may have, also if they only look like one, for example by a dash or an invisible character. */
export function isReservedName(text: string): boolean {
  const plain = text.normalize('NFKD').toLowerCase();
  return RESERVED_NAMES.includes(plain.replace(/[-_\s\p{Cf}\p{Mn}]/gu, ''));
}
export const MOST_BODY_BYTES = 900 * 1024;

export const hubName = z.string().regex(HUB_NAME, 'must consist of 1 to 32 of a-z, 0-9, _ and -');
export const pair = z.strictObject({ type: z.string().min(1).max(64), value: z.string().min(1).max(4096) });
export type Pair = Readonly<z.infer<typeof pair>>;

// The records of `hub.jsonl`, `messages/<agent>.jsonl` and `received/<machine>.jsonl`. `n` counts arrivals on this hub.
const head = { v: z.literal(1), n: z.int().min(1), event_id: z.string(), timestamp: z.string() };
/** The machine that a record was received from; absent if it was written here. */
const machine = z.string().optional();
const author = z.object({ agent_id: z.string(), name: z.string(), role: z.string(), module: z.string() });
const threadHead = z.object({
  thread_id: z.string(),
  title: z.string(),
  created_by: z.string(),
  created_at: z.string(),
  scopes: z.array(pair),
  /** The message whose reply started the thread. */
  root: z.string().optional(),
});

const messageCreate = z.object({
  ...head,
  machine,
  type: z.literal('message.create'),
  message_id: z.string(),
  author,
  format: z.string(),
  content: z.string(),
  structured: z.unknown().optional(),
  /** Repeated with each message of the thread, so that another machine knows the thread from any of them. */
  thread: threadHead.optional(),
  reply_to: z.string().optional(),
  scopes: z.array(pair),
  refs: z.array(pair),
  client_id: z.string().optional(),
});
const messageEdit = z.object({
  ...head,
  machine,
  type: z.literal('message.edit'),
  message_id: z.string(),
  author: z.string(),
  content: z.string(),
  structured: z.unknown().optional(),
});
const messageDelete = z.object({
  ...head,
  machine,
  type: z.literal('message.delete'),
  message_id: z.string(),
  author: z.string(),
});

export const messageRecord = z.discriminatedUnion('type', [messageCreate, messageEdit, messageDelete]);
export type MessageRecord = z.infer<typeof messageRecord>;
export type MessageCreate = z.infer<typeof messageCreate>;

const subscriptionAdd = z.object({
  ...head,
  type: z.literal('subscription.add'),
  subscription_id: z.int(),
  session_id: z.string(),
  scope: pair.optional(),
  mention_role: z.string().optional(),
});

export const hubRecord = z.discriminatedUnion('type', [
  z.object({
    ...head,
    type: z.literal('agent.register'),
    name: z.string(),
    role: z.string(),
    module: z.string(),
    display: z.string(),
  }),
  z.object({ ...head, type: z.literal('agent.unregister'), name: z.string() }),
  z.object({ ...head, type: z.literal('session.start'), session_id: z.string(), agent_id: z.string() }),
  z.object({ ...head, type: z.literal('session.end'), session_id: z.string() }),
  subscriptionAdd,
  z.object({ ...head, type: z.literal('subscription.remove'), subscription_id: z.int() }),
  z.object({ ...head, type: z.literal('thread.create'), thread: threadHead }),
  z.object({
    ...head,
    type: z.literal('read.mark'),
    agent_id: z.string(),
    message_ids: z.array(z.string()),
  }),
]);
export type HubRecord = z.infer<typeof hubRecord>;
export type ThreadHead = z.infer<typeof threadHead>;

/** The part of `health` about the server that joins several machines. */
export const linkHealth = z.object({
  server: z.object({
    state: z.enum(['connected', 'connecting', 'refused']),
    since: z.string(),
    /** The problem, and what to do about it. */
    error: z.string().optional(),
    /** How far this machine's clock is ahead of the server's; negative if it is behind. */
    clock_ahead_ms: z.number().optional(),
  }),
  /** Records of this machine that the server has not acknowledged. */
  not_sent: z.int(),
  stream_full: z.boolean(),
});
export type LinkHealth = Readonly<z.infer<typeof linkHealth>>;

/** `hub.json`, by which clients find a hub. */
export const hubAddress = z.object({
  version: z.literal(1),
  pid: z.int(),
  socket: z.string(),
  web_socket: z.string(),
  token: z.string(),
});
export type HubAddress = z.infer<typeof hubAddress>;
