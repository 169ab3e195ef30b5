// A notification: one fact from outside the turn, for the model.
import * as z from 'zod';

/** The tool that shows notifications in full. Texts of notifications name it, so its name is part of the format. */
export const READ_NOTIFICATIONS = 'read_notifications';

export const LEVELS = ['info', 'warning', 'error', 'critical'] as const;
export const levelSchema = z.enum(LEVELS);
export type Level = z.infer<typeof levelSchema>;

export function worseLevel(a: Level, b: Level): Level {
  return LEVELS.indexOf(a) >= LEVELS.indexOf(b) ? a : b;
}

export const ORIGINS = [
  'editor',
  'filesystem',
  'process',
  'language-server',
  'debugger',
  'mcp',
  'agent',
  'plugin',
  'host',
  'service',
] as const;

/** Longer messages are cut before they are queued, and then name a tool that shows the rest. */
export const MESSAGE_LIMIT = 2000;
/** For messages that list many subjects. */
export const LIST_LIMIT = 4000;

/** Both parts are free strings, so that plugins can add kinds. Printed as `source.name`. */
const kindSchema = z.strictObject({ source: z.string().min(1).max(100), name: z.string().min(1).max(100) });
export type Kind = z.infer<typeof kindSchema>;

/** What a producer publishes; the host adds the id. */
const notificationDraftSchema = z.strictObject({
  kind: kindSchema,
  level: levelSchema,
  message: z.string(),
  /** The coalescing key, such as `file:src/a.ts`. */
  subject: z.string().max(5000).optional(),
  scopes: z.array(z.string().max(5000)).optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  /** Who observed it. */
  origin: z.enum(ORIGINS),
  at: z.iso.datetime(),
  /**
   * Wakes an idle model. Only producers of Earshot set it, for what the conversation asked for: it is no part of `data`,
   * of a level or of a text, so that outside programs cannot.
   */
  wake: z.literal(true).optional(),
  /** The standing wake (`wake_granted`) that this one uses. It wakes only while that lasts, and within its number. */
  grant: z.string().max(100).optional(),
});
export type NotificationDraft = z.infer<typeof notificationDraftSchema>;

export const notificationSchema = notificationDraftSchema.extend({
  id: z.string(),
  message: z.string().max(LIST_LIMIT),
});
export type Notification = z.infer<typeof notificationSchema>;

const NAMES: ReadonlySet<string> = new Set(notificationSchema.keyof().options);
const LEVEL_NAMES: ReadonlySet<string> = new Set(LEVELS);
const ORIGIN_NAMES: ReadonlySet<string> = new Set(ORIGINS);
/** Does not match the 29th of February, which is left to the schema. */
const UTC =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/** If true, the notification matches the schema. If false, the schema decides. */
export function isPlainNotification(value: Notification): boolean {
  for (const name in value) if (!NAMES.has(name)) return false;
  const { id, kind, level, message, subject, scopes, data, origin, at, wake, grant } = value;
  return (
    typeof id === 'string' &&
    isName(kind.source) &&
    isName(kind.name) &&
    LEVEL_NAMES.has(level) &&
    ORIGIN_NAMES.has(origin) &&
    typeof message === 'string' &&
    message.length <= MESSAGE_LIMIT &&
    (subject === undefined || isScope(subject)) &&
    (scopes === undefined || (Array.isArray(scopes) && scopes.every(isScope))) &&
    data === undefined &&
    (wake === undefined || (wake as unknown) === true) &&
    (grant === undefined || isName(grant)) &&
    typeof at === 'string' &&
    UTC.test(at)
  );
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length <= 100;
}

function isScope(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 5000;
}

export function printKind(kind: Kind): string {
  return `${kind.source}.${kind.name}`;
}
