// Events of MCP servers (SEP-3415): the parts of results and notifications that are read. Everything else is ignored.
import * as z from 'zod';

/** The extension with which servers and this client declare events; servers of the draft declare `events` instead. */
export const EVENTS_EXTENSION = 'io.modelcontextprotocol/events';
/** In `_meta` of the notifications of a stream: the id of its request. */
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
/** What some servers send without any subscription; a conversation may subscribe to it like to an event. */
export const CHANNEL_EVENT = 'channel';

export const EVENT_ERRORS = {
  badParams: -32_602,
  noMethod: -32_601,
  notFound: -32_011,
  forbidden: -32_012,
  exhausted: -32_013,
  unsupported: -32_014,
} as const;

/** Longer ones are refused: they are stored with each notification. */
const MOST_CURSOR = 8192;
export const MOST_EVENT_NAME = 200;
const MOST_EVENT_ID = 500;

/** An absent cursor means `null`: nothing can be delivered again. */
const cursorSchema = z
  .string()
  .max(MOST_CURSOR, `the cursor is longer than ${MOST_CURSOR} characters`)
  .nullish()
  .transform((cursor) => cursor ?? null);
const schemaSchema = z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional();

export const eventListSchema = z.object({
  events: z.array(z.unknown()),
  nextCursor: z.string().max(MOST_CURSOR).optional(),
});
export const eventTypeSchema = z.object({
  name: z.string().min(1).max(MOST_EVENT_NAME),
  description: z.string().optional(),
  delivery: z.array(z.string().max(100)).min(1).max(20),
  inputSchema: schemaSchema,
});
export type McpEventType = z.infer<typeof eventTypeSchema>;

export const occurrenceSchema = z.object({
  eventId: z.string().min(1).max(MOST_EVENT_ID),
  timestamp: z.string().max(100),
  data: z.record(z.string(), z.unknown()).default({}),
  cursor: cursorSchema,
});
export type McpOccurrence = z.infer<typeof occurrenceSchema>;

export const eventPageSchema = z.object({
  events: z.array(z.unknown()).default([]),
  cursor: cursorSchema,
  truncated: z.boolean().default(false),
  hasMore: z.boolean().default(false),
  nextPollMs: z.number().min(0).optional(),
});

const errorSchema = z.object({ code: z.number(), message: z.string().max(10_000).default('') });
export const activeSchema = z.object({ cursor: cursorSchema, truncated: z.boolean().default(false) });
export const heartbeatSchema = z.object({ cursor: cursorSchema });
export const streamErrorSchema = z.object({ error: errorSchema });
export const ofStreamSchema = z.object({
  _meta: z.object({ [SUBSCRIPTION_ID]: z.union([z.string(), z.number()]) }),
});

const declaredSchema = z.object({ result: z.object({ capabilities: z.object({ events: z.object({}) }) }) });

/** Whether a message of the server is the answer in which it declares events as the draft has it. */
export function declaresEvents(message: unknown): boolean {
  return declaredSchema.safeParse(message).success;
}
