// The events of a conversation's log: every line of events.jsonl, version 1.
import * as z from 'zod';
import { formFieldSchema } from './page/form.ts';
import { isDeeperThan, MOST_DEPTH, TOO_DEEP } from '../base/json/outsideJson.ts';
import { describeIssue } from './describeIssue.ts';
import { subscriptionEvents } from './lines/eventSubscriptions.ts';
import { CARD_MEDIA_TYPES } from './page/cardMedia.ts';
import { APPROVAL_MODES, EDITOR_CONTEXTS, EFFORT_CHOICES, MODES } from './page/controlsView.ts';
import { forgeEvents } from './forge/followedCommit.ts';
import { lineEvents } from './lines/lineWatch.ts';
import { sentSchema } from './client/sentRequest.ts';
import { isPlainNotification, notificationSchema } from './notification.ts';
import { shapeCheck } from './shape.ts';
import { failureCodeSchema, failureSchema } from './tool.ts';
import { wakeEvents } from './wakes.ts';

export const EVENT_VERSION = 1;

/**
 * The lines that were shown, of a file with `of` lines. Without a part, the whole file was shown. `searched`: a search
 * showed them, so that changes of other lines do not matter.
 */
const seenPartSchema = z.strictObject({
  ranges: z.array(z.tuple([z.int(), z.int()])),
  of: z.int(),
  searched: z.literal(true).optional(),
});
export type SeenPart = z.infer<typeof seenPartSchema>;

const seenSchema = z.array(z.strictObject({ path: z.string(), hash: z.string(), part: seenPartSchema.optional() }));

/** An entry that is not a plain file. The bytes of a link are its target; `executable` is recorded if the sides differ. */
const entryKindSchema = z.enum(['link', 'executable']);
export type EntryKind = z.infer<typeof entryKindSchema>;

/** Hashes of a path's bytes before and after; absent if there was no such file. */
const around = {
  before: z.string().optional(),
  after: z.string().optional(),
  before_kind: entryKindSchema.optional(),
  after_kind: entryKindSchema.optional(),
  /** Permission bits, recorded if they differ or if one side is no file. */
  before_mode: z.int().optional(),
  after_mode: z.int().optional(),
};

/** Changes of files. Without `before` the file was created, without `after` it was deleted. */
const changesSchema = z.array(
  z.strictObject({
    path: z.string(),
    ...around,
    /** The call overwrote bytes that somebody else wrote after the model had read the file. */
    overwrote: z.literal(true).optional(),
  }),
);

/** The handles that a result showed: state, output up to the byte `through`, and the prompt where it seems to wait. */
const shownHandlesSchema = z.array(
  z.strictObject({
    name: z.string(),
    state: z.enum(['running', 'waiting', 'stopped']),
    through: z.int().optional(),
    prompt: z.int().optional(),
  }),
);
export type ShownHandle = z.infer<typeof shownHandlesSchema>[number];

export const FORMATS = ['xml', 'developer', 'markdown', 'synthetic-tool'] as const;

/** The content of a carrier. `text` is stored as sent; each pending id up to `through` is in exactly one list. */
const carriedSchema = z.strictObject({
  format: z.enum(FORMATS),
  text: z.string(),
  /** The texts of `user_text` as sent, apart from the block. Absent in logs of earlier versions: `text` contains them. */
  user: z.array(z.string()).optional(),
  through: z.int(),
  user_text: z.array(z.string()),
  shown: z.array(z.string()),
  merged: z.array(z.string()),
  counted: z.array(z.string()),
  filtered: z.array(z.string()),
});
export type Carried = z.infer<typeof carriedSchema>;

const attachmentSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('file'), path: z.string() }),
  z.strictObject({ type: z.literal('file_content'), path: z.string(), content: z.string() }),
  z.strictObject({ type: z.literal('image'), media_type: z.string(), hash: z.string(), name: z.string().optional() }),
  /** A resource of an MCP server. */
  z.strictObject({ type: z.literal('resource'), server: z.string(), uri: z.string(), content: z.string() }),
]);

/** Contents of files and resources are stored as the model reads them; an image's bytes are a snapshot. */
export type Attachment = z.infer<typeof attachmentSchema>;

/** The process of a plugin that has answered. Absent in logs of earlier versions. */
const programSchema = z.strictObject({ pid: z.int(), command: z.string() });
export type AnsweringProgram = z.infer<typeof programSchema>;

const usageSchema = z.strictObject({
  input_tokens: z.int(),
  output_tokens: z.int(),
  /** Of the input tokens: those read from the endpoint's cache, and those written to it. */
  cached_tokens: z.int().optional(),
  written_tokens: z.int().optional(),
  /** The price that the endpoint itself reports, in US dollars. */
  cost: z.number().optional(),
});
export type Usage = z.infer<typeof usageSchema>;

export const MODEL_APIS = ['chat', 'responses', 'messages'] as const;
export type ModelApi = (typeof MODEL_APIS)[number];

/** What one model call produced, in the form of its API. Only the adapter of that API reads `items`. */
const originSchema = z.strictObject({
  api: z.enum(MODEL_APIS),
  /** The endpoint's base URL without its path, or the provider's id. */
  provider: z.string(),
  model: z.string(),
  items: z.array(z.unknown()),
});
export type WireOrigin = z.infer<typeof originSchema>;

/** A text that a request contained, stored by its hash. */
const namedTextSchema = z.strictObject({ name: z.string(), hash: z.string() });

/**
 * The beginning of all requests until the next compaction: snapshots of the system prompt and of the descriptions of
 * the tools (a JSON array), and the names of these tools.
 */
const prefixSchema = z.strictObject({ system: z.string(), tools: z.string(), names: z.array(z.string()) });
export type Prefix = z.infer<typeof prefixSchema>;

/** Texts of instruction files that came or changed after the prefix, as sent. */
const laterInstructions = z.array(z.strictObject({ name: z.string(), text: z.string() })).optional();

/** The fields of each event type, in addition to the envelope. */
const bodies = {
  /** The first event. `key` is the conversation's secret, which marks Earshot's blocks; forks keep it. */
  conversation_started: {
    key: z.string().min(11),
    /** Set for a subagent: its parent conversation and its options. `depth` is 1 if the parent is not a subagent. */
    subagent: z
      .strictObject({
        parent: z.string(),
        name: z.string(),
        depth: z.int().min(1),
        /** The only tools that it has. */
        tools: z.array(z.string()).optional(),
        model: z.string().optional(),
      })
      .optional(),
  },
  turn_started: { source: z.enum(['user', 'system']) },
  chat_request: {
    content: z.string(),
    /** What the user typed, if `content` is the text of a prompt file or a skill. */
    typed: z.string().optional(),
    source: z.enum(['user', 'system']),
    /** The user chose *Deliver Now*. */
    forced: z.literal(true).optional(),
    attachments: z.array(attachmentSchema).optional(),
    schema: z.record(z.string(), z.unknown()).optional(),
    notifications: carriedSchema.optional(),
    seen: seenSchema.optional(),
    instructions: laterInstructions,
  },
  chat_response: {
    message: z.string().optional(),
    reasoning: z.string().optional(),
    data: z.unknown().optional(),
    truncated: z.boolean().optional(),
  },
  model_call: {
    model: z.string(),
    usage: usageSchema.optional(),
    outcome: z.enum(['succeeded', 'failed', 'aborted']),
    /** A call outside the turn, without a carrier. */
    purpose: z.enum(['title', 'summary', 'subagent']).optional(),
    /** The conversation of the subagent that made the call; it is counted here too. */
    subagent: z.string().optional(),
    failure: failureSchema.optional(),
    /** Absent in logs of earlier versions, and for a model that is no endpoint. */
    sent: sentSchema.optional(),
    /** Set if the call succeeded and its API wants its own output back. */
    origin: originSchema.optional(),
  },
  /** The configuration of requests from here on; written when it differs from the previous one. */
  config_used: {
    model: z.string(),
    mode: z.string(),
    tools: z.array(z.string()),
    /** The tools of MCP servers, each with a hash of its description. */
    servers: z.array(z.strictObject({ name: z.string(), tools: z.record(z.string(), z.string()) })).optional(),
    instructions: z.array(namedTextSchema),
    /** Absent if there were none, or if an earlier version wrote the event. */
    skills: z.array(namedTextSchema).optional(),
    /** Absent in logs of earlier versions, like the fields below. */
    folders: z.array(z.string()).optional(),
    /** The local day. */
    date: z.string().optional(),
    /** For a subagent: the name of its parent on the hub, and the tool that reaches it. */
    parent: z.strictObject({ name: z.string(), tool: z.string() }).optional(),
    prefix: prefixSchema.optional(),
  },
  /** `arguments_text`: the arguments verbatim, if they were not a JSON object. */
  tool_call_request: {
    id: z.string(),
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    arguments_text: z.string().optional(),
  },
  approval: {
    tool_call_id: z.string(),
    action: z.enum(['approve', 'reject', 'modify']),
    arguments: z.record(z.string(), z.unknown()).optional(),
    reason: z.string().optional(),
    always: z.boolean().optional(),
    by: z.string(),
    program: programSchema.optional(),
  },
  tool_call_response: {
    id: z.string(),
    content: z.string(),
    is_error: z.boolean(),
    failure: failureCodeSchema.optional(),
    notifications: carriedSchema.optional(),
    seen: seenSchema.optional(),
    /** Changes that the call made. */
    changes: changesSchema.optional(),
    /** Changes that others made, or may have made, while the call ran. */
    meanwhile: changesSchema.optional(),
    handles: shownHandlesSchema.optional(),
    instructions: laterInstructions,
    /** Tools that the model may call from here on; their descriptions are snapshots. */
    found: z.array(namedTextSchema).optional(),
    /** Only in logs of earlier versions, instead of `found`. */
    tools: z.array(z.string()).optional(),
    /** The content may be of this file outside the workspace, or of other machines, which this command reached. */
    outside: z.strictObject({ type: z.enum(['file', 'command']), name: z.string() }).optional(),
    /** Names (`resourceName`) of the resources of MCP servers that the call has read. */
    resources: z.array(z.string()).optional(),
    /** Images that the model is shown; their bytes are snapshots. */
    images: z
      .array(z.strictObject({ media_type: z.string(), hash: z.string(), name: z.string(), tokens: z.int().optional() }))
      .optional(),
    /** Images and sound for the card; their bytes are snapshots. */
    media: z.array(z.strictObject({ media_type: z.enum(CARD_MEDIA_TYPES), hash: z.string() })).optional(),
  },
  /** `pid` and `start_time` are the supervisor's. `ended`: the command has ended and only its output is kept. */
  handle_started: {
    name: z.string(),
    pid: z.int(),
    start_time: z.string(),
    tool_call_id: z.string(),
    ended: z.boolean().optional(),
    /** Set for a task of an MCP server. */
    task: z.strictObject({ server: z.string(), reference: z.string() }).optional(),
    /** Set for a subagent: its conversation. */
    agent: z.strictObject({ conversation: z.string() }).optional(),
  },
  inquiry_request: {
    id: z.string(),
    question: z.string(),
    options: z.array(z.string()).optional(),
    several: z.boolean().optional(),
    /** A form; `protocol/page/form.ts` describes the answer. */
    fields: z.array(formFieldSchema).optional(),
    tool_call_id: z.string().optional(),
  },
  inquiry_response: {
    id: z.string(),
    answer: z.union([z.string(), z.array(z.string())]),
    by: z.string(),
    program: programSchema.optional(),
  },
  user_text_queued: {
    content: z.string(),
    typed: z.string().optional(),
    attachments: z.array(attachmentSchema).optional(),
  },
  /** Withdrawn by the user, or returned because the turn ended before it was delivered. */
  user_text_withdrawn: { ids: z.array(z.string()).min(1), reason: z.string() },
  notification_queued: { notification: notificationSchema },
  notification_withdrawn: { ids: z.array(z.string()).min(1), reason: z.string() },
  /**
   * A checkpoint of the workspace's files, stored under this name; `unsaved` are the bytes of changed buffers. If it
   * could not be taken, it has no name, and `failure` says why.
   */
  checkpoint_taken: {
    reason: z.enum(['turn', 'command', 'restore']),
    checkpoint: z.string().optional(),
    tool_call_id: z.string().optional(),
    unsaved: seenSchema.optional(),
    /** Number of files that were too large or unreadable, and of folders that could not be captured. */
    left_out: z.int().optional(),
    /** The first of them. */
    left_out_paths: z.array(z.string()).optional(),
    failure: failureSchema.optional(),
  },
  /**
   * The user's decision about changes of the agent. `of` names the request whose turn was restored to, or the decision
   * that is reverted. A file's `through` is the last event that the decision covers, `before` and `after` are its bytes
   * around the decision, `rest` remains to be reviewed. `meanwhile`: it concerns changes by others during a call.
   */
  changes_reviewed: {
    /** Logs of 0.2 and before have `bring_back` for `revert`. */
    action: z.enum(['keep', 'undo', 'restore', 'revert', 'bring_back']),
    of: z.string().optional(),
    files: z.array(
      z.strictObject({
        path: z.string(),
        through: z.int(),
        ...around,
        meanwhile: z.literal(true).optional(),
        rest: z.strictObject({ before: z.string().optional(), after: z.string().optional() }).optional(),
      }),
    ),
  },
  /** An overlay that the model reads instead of everything up to and including `through`. */
  compaction: {
    summary: z.string(),
    through: z.int(),
    seen: seenSchema.optional(),
    /** Instructions of folders, which the system prompt does not have. */
    instructions: laterInstructions,
  },
  /** From here on, the model reads one line instead of each long result up to and including `through`. */
  results_dropped: { through: z.int() },
  turn_ended: { outcome: z.enum(['done', 'stopped', 'error']), failure: failureSchema.optional() },
  /** What the user chose for this conversation; absent fields stay as they are. */
  choice_made: {
    /** As in the setting `earshot.model`. */
    model: z.string().optional(),
    effort: z.enum(EFFORT_CHOICES).optional(),
    mode: z.enum(MODES).optional(),
    approvals: z.enum(APPROVAL_MODES).optional(),
    editor: z.enum(EDITOR_CONTEXTS).optional(),
  },
  title_set: { title: z.string() },
  /** The conversation's name on a hub, and the cursor up to which its messages there are in this log. */
  hub_agent: { hub: z.string(), name: z.string(), cursor: z.string() },
  /** `request`: the message of the original that the fork sends again. `through` is 0 if nothing is shared. */
  forked: { from: z.string(), through: z.int(), request: z.string().optional() },
  /** This is the log of an outside agent, with carriers but without turns. */
  listener_started: { agent: z.string() },
  /** Files that an outside agent has read or written. */
  files_seen: { seen: seenSchema },
  watch_changed: { add: z.array(z.string()), remove: z.array(z.string()) },
  ...lineEvents,
  ...subscriptionEvents,
  /** An outside agent has received these carriers. */
  carriers_accepted: { carriers: z.array(z.int()).min(1) },
  ...wakeEvents,
  ...forgeEvents,
};

type Bodies = { [T in keyof typeof bodies]: z.infer<z.ZodObject<(typeof bodies)[T]>> };
type EventType = keyof Bodies;

const envelope = {
  v: z.literal(EVENT_VERSION),
  seq: z.int().min(1),
  event_id: z.string(),
  timestamp: z.iso.datetime(),
};
interface Envelope {
  v: typeof EVENT_VERSION;
  seq: number;
  event_id: string;
  timestamp: string;
}

/** An event without the envelope, which the log adds. */
export type EventDraft = { [T in EventType]: { type: T } & Bodies[T] }[EventType];
export type LogEvent = { [T in EventType]: Envelope & { type: T } & Bodies[T] }[EventType];
export type EventOf<T extends EventType> = Extract<LogEvent, { type: T }>;

const schemas = new Map<string, z.ZodType>(
  Object.entries(bodies).map(([type, body]) => [type, z.strictObject({ ...envelope, type: z.literal(type), ...body })]),
);

/** Checks the fields other than version, sequence number and type. */
const shapes = new Map(
  Object.entries(bodies).map(([type, body]) => {
    const { event_id, timestamp } = envelope;
    return [type, shapeCheck(z.object({ event_id, timestamp, ...body }))];
  }),
);

/** Fields of events that may hold any data. */
const openData: { readonly [T in EventType]?: (event: EventOf<T>) => Readonly<Record<string, unknown>> } = {
  chat_request: ({ schema }) => ({ schema }),
  chat_response: ({ data }) => ({ data }),
  model_call: ({ origin }) => ({ 'origin.items': origin?.items }),
  tool_call_request: ({ arguments: args }) => ({ arguments: args }),
  approval: ({ arguments: args }) => ({ arguments: args }),
  wake_set: ({ when }) => ({ when }),
  events_subscribed: ({ arguments: args }) => ({ arguments: args }),
  notification_queued: ({ notification }) => ({ 'notification.data': notification.data }),
};

export type ParsedEvent =
  | { readonly kind: 'event'; readonly event: LogEvent }
  /** Written by a newer Earshot: kept in the file, ignored by every projection. */
  | { readonly kind: 'unknown'; readonly seq: number; readonly type: string; readonly v: number }
  | { readonly kind: 'invalid'; readonly reason: string };

/** Why an event must not be written, in the form `type: field: reason`; undefined if the event is valid. */
export function findFault(event: LogEvent): string | undefined {
  // A fast path for by far the most frequent event. If it is not plain, the schema decides.
  if (event.type === 'notification_queued' && isPlainNotification(event.notification)) return undefined;
  const checked = schemas.get(event.type)?.safeParse(event);
  if (checked === undefined) return `there is no event of type ${event.type}`;
  if (!checked.success) return `${event.type}: ${describeIssue(checked.error)}`;
  const deep = deepField(event);
  return deep === undefined ? undefined : `${event.type}: ${deep}: ${TOO_DEEP}`;
}

function deepField<T extends EventType>(event: EventOf<T>): string | undefined {
  const fields = openData[event.type]?.(event) ?? {};
  return Object.entries(fields).find(([, data]) => isDeeperThan(data, MOST_DEPTH))?.[0];
}

/**
 * Reads a decoded line whose checksum is right. The event was validated when it was appended, so only types are checked
 * again: projections rely on them, and a checksum can be forged.
 */
export function readWritten(value: unknown): ParsedEvent {
  if (typeof value !== 'object' || value === null) return { kind: 'invalid', reason: 'it is no object' };
  const { v, seq, type } = value as { v?: unknown; seq?: unknown; type?: unknown };
  if (!Number.isSafeInteger(v) || (v as number) < 1) return { kind: 'invalid', reason: 'v: not a version' };
  if (!Number.isSafeInteger(seq) || (seq as number) < 1) return { kind: 'invalid', reason: 'seq: not a number from 1' };
  if (typeof type !== 'string') return { kind: 'invalid', reason: 'type: not a text' };
  if (v !== EVENT_VERSION || !schemas.has(type)) return { kind: 'unknown', seq: seq as number, type, v: v as number };
  if (shapes.get(type)?.(value) === true) return { kind: 'event', event: value as LogEvent };
  const { error } = schemas.get(type)?.safeParse(value) ?? {};
  return { kind: 'invalid', reason: `it is no ${type}${error === undefined ? '' : `: ${describeIssue(error)}`}` };
}
