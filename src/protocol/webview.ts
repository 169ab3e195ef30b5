// The two directions between the host and the chat page. The page imports types only; the host parses what comes from it.
import * as z from 'zod';
import { type ChangesView, changesMessages } from './changesView.ts';
import { type FileDiff } from './diffView.ts';
import { type HandleView, handlesMessages } from './handlesView.ts';
import { type Level } from './notification.ts';
import { type TodoItem } from './todo.ts';
import { type TranscriptItem } from './transcript.ts';

/** What the page may say. Nothing is sent to it before `ready`. */
export const fromPageSchema = z.discriminatedUnion('type', [
  /** Also sent when the page noticed a gap in the numbers: it is answered with a new snapshot. */
  z.strictObject({
    type: z.literal('ready'),
    /** The page was just loaded: it has nothing yet, not even what was typed before. */
    fresh: z.boolean(),
  }),
  /** What is typed and not sent, a moment after each change. */
  z.strictObject({ type: z.literal('draft'), text: z.string().max(2_000_000) }),
  /** While a turn runs the words are queued. What is attached goes with them. */
  z.strictObject({ type: z.literal('send'), text: z.string().max(1_000_000) }),
  /** While a turn runs: breaks off what goes on, and is the next request. */
  z.strictObject({ type: z.literal('interrupt'), text: z.string().max(1_000_000) }),
  /** Queued words that nobody has carried yet, by their id. */
  z.strictObject({ type: z.literal('take_back'), id: z.string().max(100) }),
  /** Tells the model now what waits to be told. */
  z.strictObject({ type: z.literal('deliver_now') }),
  z.strictObject({
    type: z.literal('attach_image'),
    name: z.string().max(300),
    media_type: z.string().max(100),
    /** Base64. */
    data: z.string().max(14_000_000),
    /** A small picture of it, for the page itself. */
    preview: z
      .string()
      .max(60_000)
      .regex(/^data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/=]*$/)
      .optional(),
  }),
  z.strictObject({ type: z.literal('detach'), id: z.string().max(5000) }),
  z.strictObject({ type: z.literal('stop') }),
  z.strictObject({ type: z.literal('new_chat') }),
  z.strictObject({
    type: z.literal('answer_approval'),
    call: z.string(),
    action: z.enum(['approve', 'reject', 'modify']),
    reason: z.string().max(10_000).optional(),
    /** With `approve`: like calls are not asked for again. */
    always: z.boolean().optional(),
    /** With `modify`: what is to be run instead. */
    arguments: z.record(z.string(), z.unknown()).optional(),
  }),
  z.strictObject({
    type: z.literal('answer_question'),
    question: z.string(),
    /** A list where several may be chosen; empty: no answer is given. */
    answer: z.union([z.string().max(100_000), z.array(z.string().max(100_000)).max(100)]),
  }),
  z.strictObject({ type: z.literal('open_file'), path: z.string().max(5000), line: z.int().positive().optional() }),
  /** What a call changed, for its card; answered with `diff`. */
  z.strictObject({ type: z.literal('read_diff'), call: z.string().max(500) }),
  ...changesMessages,
  ...handlesMessages,
  z.strictObject({ type: z.literal('show_log') }),
  /** The conversation is open in another window and is wanted here. */
  z.strictObject({ type: z.literal('continue_here') }),
  z.strictObject({ type: z.literal('manage_trust') }),
  z.strictObject({ type: z.literal('open_folder') }),
  z.strictObject({ type: z.literal('failed'), message: z.string().max(10_000) }),
]);
export type FromPage = z.infer<typeof fromPageSchema>;

/** Words that wait for the running turn to carry them. */
interface QueuedView {
  readonly id: string;
  readonly text: string;
  /** Names of what is attached. */
  readonly attachments: readonly string[];
}

/** What the composer will send besides the text. */
export interface AttachmentView {
  /** An image's hash, or a file's path. */
  readonly id: string;
  readonly kind: 'image' | 'file';
  readonly name: string;
  /** A small picture as a data URL. */
  readonly preview?: string;
}

/** Why something pending that would wake or interrupt the model waits. */
export type HeldReason =
  /** The user has not written to this conversation in this window. */
  | 'not_written'
  /** The last turn ended so. */
  | 'stopped'
  | 'error'
  /** So many automated requests came since the user's last word. */
  | 'in_a_row'
  | 'aborted_lately'
  | 'woken_lately'
  /** The model may be asked only on the user's own doing. */
  | 'model';

/** What the conversation has used. */
export interface Meter {
  /** Of the model's context window, 0 to 1 and beyond. */
  readonly context: number;
  readonly tokens: number;
  readonly notificationTokens: number;
  /** In the currency of the prices; null where one of the models has none. */
  readonly cost: number | null;
}

/** What stands over the transcript while something keeps the chat from working fully. */
export interface Obstacle {
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
  readonly nextStep?: string;
  /** A button that helps; `label` is its text. */
  readonly action?: { readonly label: string; readonly message: FromPage };
}

export interface ChatState {
  readonly version: string;
  readonly hostVersion: string;
  /** The model's name and, in few words, what it is: `Guide`, `offline, no AI`. */
  readonly model: { readonly label: string; readonly detail: string };
  readonly title: string;
  readonly running: boolean;
  /** False: nothing can be sent (no storage, no folder); an obstacle says why. */
  readonly canSend: boolean;
  readonly pending: { readonly count: number; readonly worst: Level | null };
  /** Null: nothing is held back. */
  readonly heldBack: HeldReason | null;
  /** Oldest first. */
  readonly queued: readonly QueuedView[];
  readonly attachments: readonly AttachmentView[];
  /** The composer holds a queued message that came back undelivered. */
  readonly returned?: boolean;
  /** Null: nothing has been counted yet. */
  readonly meter: Meter | null;
  /** What the agent changed and nobody has decided on; null or absent: nothing. */
  readonly changes?: ChangesView | null;
  readonly obstacles: readonly Obstacle[];
  /** Background commands of the conversation. */
  readonly handles: readonly HandleView[];
  /** What the model says is to be done. */
  readonly todo: readonly TodoItem[];
  readonly items: readonly TranscriptItem[];
}

/** The parts of the state that are replaced whole. */
export type ChatHead = Omit<ChatState, 'items'>;

export type Change =
  | { readonly type: 'head'; readonly head: Partial<ChatHead> }
  /** Adds the item, or replaces the one with the same id where it stands. */
  | { readonly type: 'item'; readonly item: TranscriptItem }
  /** Adds to the answer's text or reasoning, or to the tool's output. */
  | {
      readonly type: 'text';
      readonly id: string;
      readonly field: 'text' | 'reasoning' | 'output';
      readonly text: string;
    }
  | { readonly type: 'removed'; readonly id: string };

/** A snapshot starts the numbering; each delta's number is one more than the message before it. */
export type ToPage =
  | { readonly type: 'snapshot'; readonly number: number; readonly state: ChatState }
  | { readonly type: 'delta'; readonly number: number; readonly changes: readonly Change[] }
  /** Not numbered, as they change no state of the chat. */
  | { readonly type: 'focus_composer' }
  /** Words that could not be taken come back, in front of what was typed since. */
  | { readonly type: 'restore_draft'; readonly text: string }
  | { readonly type: 'diff'; readonly call: string; readonly files: readonly FileDiff[] };

/** A message without a handler does not compile. */
export type FromPageHandlers = {
  readonly [T in FromPage['type']]: (message: Extract<FromPage, { type: T }>) => Promise<void> | void;
};
