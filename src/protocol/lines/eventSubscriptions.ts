// Subscriptions of a conversation to events of MCP servers, as its log has them.
import * as z from 'zod';
import { MOST_EVENT_NAME } from '../outside/mcpEvents.ts';

/** Subscriptions that a conversation may have. */
export const MOST_SUBSCRIPTIONS = 10;
/** How often, and for how many days, the events of a subscription may wake the model after the user's approval. */
export const MOST_EVENT_WAKES = 50;
export const EVENT_WAKE_DAYS = 7;

/** `channel`: what the server sends without being asked. */
const modeSchema = z.enum(['push', 'poll', 'channel']);
export type EventMode = z.infer<typeof modeSchema>;

/** Whose settings ask for it: those of VS Code, or those of a program without an editor. */
const settingsSchema = z.enum(['editor', 'program']);
export type SettingsOf = z.infer<typeof settingsSchema>;

const name = z.string().min(1).max(400);
/** Absent: the server keeps nothing. */
const cursor = z.string().optional();

/** The events of the log. */
export const subscriptionEvents = {
  /** The conversation gets an event from here on. A later one of the same name replaces it. */
  events_subscribed: {
    name,
    server: z.string(),
    /** Distinguishes servers that have the same name, now or later. */
    identity: z.string(),
    event: z.string().max(MOST_EVENT_NAME),
    arguments: z.record(z.string(), z.unknown()).optional(),
    mode: modeSchema,
    /** The position to read on from. */
    cursor,
    /** The standing wake that the user has approved. */
    grant: z.string().max(100).optional(),
    /** The entry of the user's setting that asks for it. */
    setting: z.string().optional(),
    /** Where this entry is. Absent in older logs: where the log is written. */
    settings: settingsSchema.optional(),
  },
  events_unsubscribed: { name, by: z.enum(['model', 'user', 'setting']) },
  events_paused: { name, paused: z.boolean() },
  /** A position that was reached without an event. */
  events_cursor: { name, cursor },
};

/** In the data of `mcp.event`, `mcp.events_missed` and `mcp.events_ended`: the notification and the position are one event. */
export const subscriptionDataSchema = z.object({
  subscription: z.string(),
  /** The position after them; null: the server keeps nothing. */
  cursor: z.string().nullable().optional(),
  /** The id of each event, and the hash of its payload. */
  events: z.array(z.object({ id: z.string(), hash: z.string().optional() })).optional(),
  /** The server has ended it. */
  ended: z.literal(true).optional(),
});
