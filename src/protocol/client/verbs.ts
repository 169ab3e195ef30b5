// The verbs of a conversation client, with their parameters and results: one table for the page's messages, the lines of
// plugins (WIRE A) and the requests of ACP. A verb has one name everywhere; WIRE A keeps its own, in the column `wire`.
import * as z from 'zod';
import { levelSchema } from '../notification.ts';
import { TRIGGERS } from '../page/completionsView.ts';
import { APPROVAL_MODES, EDITOR_CONTEXTS, EFFORT_CHOICES, listedChoiceSchema, MODES } from '../page/controlsView.ts';
import { type FileDiff } from '../page/diffView.ts';
import { fileFreshnessSchema } from '../page/freshnessView.ts';
import { dueSchema } from '../page/handlesView.ts';
import { kindUseSchema, timelineItemSchema } from '../page/overviewView.ts';
import { muteSchema } from '../page/pendingView.ts';
import { ruleSchema } from '../page/rulesView.ts';
import { commandSchema, completionSchema, modelSchema, offeredModelSchema } from '../page/windowView.ts';
import { alwaysAnswerSchema } from '../transcript.ts';

interface VerbRow {
  readonly params: z.ZodObject;
  readonly result: z.ZodObject;
  /** `request` and `reply` are the types of the lines; `fixed` are fields that only the line has. */
  readonly wire: {
    readonly request: string;
    readonly fixed?: Readonly<Record<string, string>>;
    readonly reply: string;
  };
  /** It acts in place of the user: a program needs `approve: true`. */
  readonly forUser?: true;
  /** Later requests of the same program do not wait for it, since it waits for a turn, the user or an endpoint. */
  readonly concurrent?: true;
}

const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();
const text = z.string();
const conversation = text;
const call = z.object({ conversation, tool_call_id: text });
const inConversation = z.object({ conversation });
const queued = z.object({ conversation, queued_id: text });
const due = z.object({ conversation, name: text.max(5000) });
const nothing = z.object({});
const done = 'done';

/** `file` is read by the host, through the same guard as `read_file`. */
const attachmentSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('file_content'), path: text, content: text }),
  z.object({ type: z.literal('file'), path: text }),
  /** An image that was stored with `attach`. A program can name only those that it has stored itself. */
  z.object({
    type: z.literal('image'),
    media_type: text.max(100),
    hash: text.max(200),
    name: text.max(300).optional(),
  }),
  /** A resource of an MCP server with the content it had when it was attached. */
  z.object({ type: z.literal('resource'), server: text, uri: text, content: text }),
]);
export type SentAttachment = z.infer<typeof attachmentSchema>;

const attachments = z.array(attachmentSchema).max(100).readonly().optional();
/** A message of the user. It may be empty if it has attachments. */
const message = z.object({ conversation, content: text, attachments });
/** `turn` is the `event_id` of its `turn_started`; `Client.untilEnded` waits for its end. */
const started = z.object({ conversation, turn: text });

/** Absent: all changes. `hunk` is one of the path's, of the state of the file that `version` names. */
const changes = z.object({
  conversation,
  path: text.max(5000).optional(),
  hunk: z.strictObject({ version: text.max(200), index: z.int().min(0) }).optional(),
});
/** What others changed while a command ran; it is undone only with `path`. */
const meanwhile = z.literal(true).optional();
/** Files that were changed, and those that were not with the reason. */
const reviewed = z.object({ done: list(text), stayed: list(z.strictObject({ path: text, reason: text })) });

const conversationSummary = z.strictObject({
  id: text,
  title: text.nullable(),
  last_activated_at: z.iso.datetime(),
  pinned_at: z.iso.datetime().optional(),
  events_count: z.int().min(0),
  /** Set for a subagent: the conversation that started it, and its name there. */
  subagent: z.strictObject({ parent: text, name: text }).optional(),
  choice: listedChoiceSchema.optional(),
  forked: z.literal(true).optional(),
  /** How many files have changes that are not reviewed, and how many background commands run. */
  unreviewed: z.int().min(1).optional(),
  commands: z.int().min(1).optional(),
  /** Why it cannot be read. */
  problem: text.optional(),
});

export const VERBS = {
  list_conversations: {
    params: nothing,
    result: z.object({ data: list(conversationSummary) }),
    wire: { request: 'list_conversations', reply: 'conversations' },
  },
  /** Creates an empty conversation. */
  create: {
    params: z.object({ title: text.optional() }),
    result: inConversation,
    wire: { request: 'create', reply: 'created' },
  },
  /** The log without the conversation's key. `lock` says where a turn runs, if any does. */
  read_events: {
    params: inConversation,
    result: z.object({
      conversation,
      lock: z.enum(['free', 'elsewhere', 'here']),
      title: text.nullable().optional(),
      data: list(z.record(text, z.unknown())),
    }),
    wire: { request: 'read_events', reply: 'events' },
  },
  /** Starts a turn; fails while one is running. */
  send: {
    params: message.extend({ schema: z.record(text, z.unknown()).nullish() }),
    result: started,
    wire: { request: 'query', reply: 'query_started' },
    concurrent: true,
  },
  /** The message goes with the next result of a tool; without a running turn it starts one. */
  queue: {
    params: message,
    result: nothing,
    wire: { request: 'interrupt', fixed: { action: 'queue', idle: 'send' }, reply: done },
    concurrent: true,
  },
  /** Aborts what the turn is doing; the message is its next request. Without a running turn it starts one. */
  interrupt: {
    params: message,
    result: nothing,
    wire: { request: 'interrupt', fixed: { action: 'reply', idle: 'send' }, reply: done },
    concurrent: true,
  },
  /** Resolves once the turn has stopped. */
  stop: {
    params: inConversation,
    result: nothing,
    wire: { request: 'interrupt', fixed: { action: 'stop' }, reply: done },
    concurrent: true,
  },
  /** Continues a failed turn with the same messages. */
  retry: {
    params: inConversation,
    result: started,
    wire: { request: 'retry', reply: 'query_started' },
    concurrent: true,
  },
  /**
   * Sends an earlier message of the user again, in a fork that ends before it. `instead_of` is the `event_id` of its
   * `chat_request`; absent `content` and `attachments` are those of that message.
   */
  resend: {
    params: message.partial({ content: true }).extend({ instead_of: text }),
    result: started,
    wire: { request: 'query', reply: 'query_started' },
    concurrent: true,
  },
  /** A queued message is named by the `event_id` of its `user_text_queued`. Fails if it was delivered already. */
  withdraw_queued: {
    params: queued,
    result: z.object({ content: text.optional(), attachments }),
    wire: { request: 'withdraw_queued', reply: done },
  },
  /** Interrupts the turn with a queued message. */
  send_queued: { params: queued, result: nothing, wire: { request: 'send_queued', reply: done }, concurrent: true },
  /** Moves a queued message one place up. */
  raise_queued: { params: queued, result: nothing, wire: { request: 'raise_queued', reply: done } },
  rename: {
    params: inConversation.extend({ title: text }),
    result: nothing,
    wire: { request: 'rename_conversation', reply: done },
  },
  /**
   * Creates a conversation with the history so far, or with what is before a message of the user: `before` is the
   * `event_id` of its `chat_request`, and the result has that message.
   */
  fork: {
    params: inConversation.extend({ before: text.optional() }),
    result: inConversation.extend({ content: text.optional(), attachments }),
    wire: { request: 'fork_conversation', reply: 'forked' },
  },
  delete: {
    params: inConversation,
    result: nothing,
    wire: { request: 'delete_conversation', reply: done },
    forUser: true,
  },
  export: {
    params: inConversation.extend({ format: z.enum(['markdown', 'json']) }),
    result: z.object({ text }),
    wire: { request: 'export_conversation', reply: 'exported' },
  },
  /** Answers a request for approval. */
  approve: {
    params: call.extend({
      action: z.enum(['approve', 'reject', 'modify']),
      /** With `modify`: the arguments to run instead. */
      arguments: z.record(text, z.unknown()).optional(),
      reason: text.optional(),
      /** With `approve`: what the request's `always` covers needs no approval from now on. */
      always: alwaysAnswerSchema.optional(),
      /** What the answerer was shown: *approve* fails if the request has changed since. */
      revision: z.number().optional(),
    }),
    result: nothing,
    wire: { request: 'respond', fixed: { respond: 'tool_approval' }, reply: done },
    forUser: true,
  },
  /** Answers a question or a form. */
  answer: {
    params: z.object({ inquiry_id: text, answer: z.union([text, list(text)]) }),
    result: nothing,
    wire: { request: 'respond', fixed: { respond: 'inquiry' }, reply: done },
    forUser: true,
  },
  /** All permanent approvals, oldest first: of the folder, and of single conversations. */
  list_rules: {
    params: nothing,
    result: z.object({ data: list(ruleSchema) }),
    wire: { request: 'list_rules', reply: 'rules' },
  },
  /** Revokes one: what it covers needs approval again. `conversation` as in the list. */
  remove_rule: {
    params: ruleSchema.pick({ rule: true, conversation: true }),
    result: nothing,
    wire: { request: 'remove_rule', reply: done },
    forUser: true,
  },
  /** Delivers pending notifications now. */
  deliver: { params: inConversation, result: nothing, wire: { request: 'deliver_now', reply: done } },
  /** Withdraws pending notifications: the model does not get them. */
  dismiss: {
    params: inConversation.extend({ notification_ids: z.array(text).min(1).max(10_000).readonly() }),
    result: nothing,
    wire: { request: 'dismiss', reply: done },
  },
  /** Changes the settings, so that such notifications are not delivered any more. */
  mute: {
    params: z.object({ mute: muteSchema }),
    result: nothing,
    wire: { request: 'mute', reply: done },
    forUser: true,
  },
  /** For a conversation and for new ones; without a conversation only for new ones. `model` is an id of `list_models`. */
  choose: {
    params: z.object({
      conversation: conversation.optional(),
      model: text.max(5000).optional(),
      effort: z.enum(EFFORT_CHOICES).optional(),
      mode: z.enum(MODES).optional(),
      approvals: z.enum(APPROVAL_MODES).optional(),
      /** What the model is notified of about the active editor. */
      editor: z.enum(EDITOR_CONTEXTS).optional(),
    }),
    result: nothing,
    wire: { request: 'choose', reply: done },
    forUser: true,
    concurrent: true,
  },
  /** What holds in a conversation, and with `all` every model that can be chosen, for which endpoints are asked. */
  list_models: {
    params: z.object({ conversation: conversation.optional(), all: z.boolean().optional() }),
    result: z.object({ current: modelSchema, data: list(offeredModelSchema) }),
    wire: { request: 'list_models', reply: 'models' },
    concurrent: true,
  },
  /** Earshot's settings by name, without secrets. `path` is a name, or the common beginning of several. */
  read_config: {
    params: z.object({ path: text.optional() }),
    result: z.object({ path: text.optional(), data: z.unknown() }),
    wire: { request: 'read_config', reply: 'config' },
  },
  /** Accepts changes of the agent. */
  keep: {
    params: changes.extend({ meanwhile }),
    result: reviewed,
    wire: { request: 'keep', reply: 'reviewed' },
    forUser: true,
  },
  /** Undoes changes of the agent. */
  undo: {
    params: changes.extend({ meanwhile }),
    result: reviewed,
    wire: { request: 'undo', reply: 'reviewed' },
    forUser: true,
  },
  /**
   * Restores the files that the agent changed to their state before the turn of a `chat_request`; with `files` only these,
   * each if it is still as the user was shown it.
   */
  restore: {
    params: inConversation.extend({
      request: text.max(100),
      files: list(z.strictObject({ path: text.max(5000), version: text.max(100) })).optional(),
    }),
    result: reviewed,
    wire: { request: 'restore', reply: 'reviewed' },
    forUser: true,
  },
  /** Reverts an undo or a restore. */
  revert: {
    params: inConversation.extend({ decision: text.max(100) }),
    result: reviewed,
    wire: { request: 'revert', reply: 'reviewed' },
    forUser: true,
  },
  /** Background commands with their last output, the newest last. A command is named by the call that started it. */
  list_commands: {
    params: inConversation,
    result: z.object({ data: list(commandSchema) }),
    wire: { request: 'list_commands', reply: 'commands' },
  },
  stop_command: { params: call, result: nothing, wire: { request: 'stop_command', reply: done } },
  /** Writes a line to the input of a command. */
  write_command: {
    params: call.extend({ input: text.max(100_000) }),
    result: nothing,
    wire: { request: 'write_command', reply: done },
    forUser: true,
  },
  /** The call returns, and its command continues as a background command. */
  move_to_background: { params: call, result: nothing, wire: { request: 'move_to_background', reply: done } },
  /** Timers and conditions, soonest first, and the lines and events for which the model waits. */
  list_due: {
    params: inConversation,
    result: z.object({
      data: list(dueSchema),
    }),
    wire: { request: 'list_due', reply: 'due' },
  },
  /** Fires a timer or a condition at once. */
  fire_due: { params: due, result: nothing, wire: { request: 'fire_due', reply: done }, forUser: true },
  /** Ends what `list_due` lists: the model is not notified of it any more. */
  cancel_due: {
    params: due.extend({ what: z.enum(['wake', 'lines', 'events']) }),
    result: nothing,
    wire: { request: 'cancel_due', reply: done },
    forUser: true,
  },
  /** Stores an image, given in base64, for a message. */
  attach: {
    params: z.object({ media_type: text.max(100), data: text }),
    result: z.object({ hash: text }),
    wire: { request: 'store_image', reply: 'image' },
  },
  /** An image or a recording that a result or a message of the conversation names. Without `data` it is not stored. */
  read_media: {
    params: inConversation.extend({ hash: text.max(200) }),
    result: z.object({ hash: text, data: text.optional() }),
    wire: { request: 'read_media', reply: 'media' },
  },
  /** The changes that a call made. */
  read_diff: {
    params: call,
    result: z.object({ data: list(z.custom<FileDiff>((one) => typeof one === 'object' && one !== null)) }),
    wire: { request: 'read_diff', reply: 'diffs' },
  },
  /**
   * The files that the conversation knows, compared with their present state, in the order in which they were shown.
   * `older`: how many were shown before these and are not compared; absent: none.
   */
  read_freshness: {
    params: inConversation,
    result: z.object({ data: list(fileFreshnessSchema), older: z.int().optional() }),
    wire: { request: 'read_freshness', reply: 'freshness' },
    concurrent: true,
  },
  /** Queues notifications with the differences of files from what the model knows. Absent `paths`: of all that changed. */
  update_files: {
    params: inConversation.extend({ paths: z.array(text.max(5000)).max(1000).readonly().optional() }),
    result: reviewed,
    wire: { request: 'update_files', reply: 'reviewed' },
    concurrent: true,
  },
  /**
   * For each kind of notification, what was delivered and whether the model used it; absent `conversation`: in all of the
   * workspace.
   */
  read_notification_use: {
    params: z.object({ conversation: conversation.optional() }),
    result: z.object({ conversations: z.int().min(0), data: list(kindUseSchema) }),
    wire: { request: 'read_notification_use', reply: 'notification_use' },
    concurrent: true,
  },
  /**
   * What happened in a conversation: items that are new or have changed after the event `after`, in parts. `through` is
   * the `after` of the next part, and of what happens later.
   */
  read_timeline: {
    params: inConversation.extend({ after: z.int().min(0).optional() }),
    result: z.object({ through: z.int().min(0), more: z.boolean(), data: list(timelineItemSchema) }),
    wire: { request: 'read_timeline', reply: 'timeline' },
    concurrent: true,
  },
  /** Completions after `@` (files to attach) or `/` (texts to insert). */
  complete: {
    params: z.object({ trigger: z.enum(TRIGGERS), query: text.max(300) }),
    result: z.object({ data: list(completionSchema) }),
    wire: { request: 'complete', reply: 'completions' },
  },
  /** Notifies one conversation, those with these scopes, or all that are live. */
  notify: {
    params: z.object({
      kind: z.object({ source: text.min(1).max(60).optional(), name: text.min(1).max(100) }),
      level: levelSchema,
      message: text.min(1),
      conversation: conversation.optional(),
      subject: text.min(1).max(5000).optional(),
      scopes: z.array(text.min(1).max(5000)).max(1000).readonly().optional(),
      data: z.record(text, z.unknown()).optional(),
    }),
    result: z.object({ matched: z.int().min(0) }),
    wire: { request: 'notify', reply: done },
  },
} as const satisfies Readonly<Record<string, VerbRow>>;

export type Verb = keyof typeof VERBS;
export type VerbParams<V extends Verb> = Readonly<z.infer<(typeof VERBS)[V]['params']>>;
export type VerbResult<V extends Verb> = Readonly<z.infer<(typeof VERBS)[V]['result']>>;
