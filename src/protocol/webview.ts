// Messages between the host and the chat page. The page imports types only; the host validates the page's messages.
import * as z from 'zod';
import { type ChangesView, changesMessages } from './page/changesView.ts';
import { type CompletionsMessage, completionsMessages } from './page/completionsView.ts';
import {
  type ContextView,
  type Controls,
  controlsMessages,
  type ModelChoice,
  type EditorChip,
} from './page/controlsView.ts';
import {
  type ConversationsMessage,
  conversationId,
  conversationsMessages,
  type OtherConversation,
  type ForkOrigin,
  type PromptsMessage,
} from './page/conversationsView.ts';
import { type FileDiff } from './page/diffView.ts';
import { type FileFreshness, type FreshnessCounts } from './page/freshnessView.ts';
import { type DueView, type FollowedView, type HandleView, handlesMessages } from './page/handlesView.ts';
import { type Level } from './notification.ts';
import { type PendingEntry } from './page/pendingView.ts';
import { type TodoItem } from './todo.ts';
import { type TranscriptItem } from './transcript.ts';
import { transcriptMessages } from './page/transcriptMessages.ts';
import { verbMessages } from './page/verbMessages.ts';

/** Messages from the page. The host sends nothing before `ready`. */
export const fromPageSchema = z.discriminatedUnion('type', [
  /** Also sent after a gap in the numbering. The host answers with a snapshot. */
  z.strictObject({ type: z.literal('ready') }),
  /** Whether the page has the keyboard focus, of which VS Code does not tell extensions. */
  z.strictObject({ type: z.literal('focused'), focused: z.boolean() }),
  /** The unsent text, shortly after each change. The conversation is null for a new chat. */
  z.strictObject({
    type: z.literal('draft'),
    conversation: conversationId.nullable(),
    text: z.string().max(2_000_000),
  }),
  z.strictObject({ type: z.literal('detach'), id: z.string().max(5000) }),
  z.strictObject({ type: z.literal('new_chat') }),
  z.strictObject({
    type: z.literal('open_file'),
    path: z.string().max(5000),
    line: z.int().positive().optional(),
    column: z.int().positive().optional(),
  }),
  ...verbMessages,
  ...changesMessages,
  ...handlesMessages,
  ...controlsMessages,
  ...conversationsMessages,
  ...transcriptMessages,
  ...completionsMessages,
  z.strictObject({ type: z.literal('show_log') }),
  /** Takes over a conversation that is open in another window. */
  z.strictObject({ type: z.literal('continue_here') }),
  z.strictObject({ type: z.literal('manage_trust') }),
  /** Shows the questions whether programs and agents may do something. */
  z.strictObject({ type: z.literal('review_approvals') }),
  /** The button of an offer above the transcript. */
  z.strictObject({ type: z.literal('take_offer'), subject: z.string().max(5000) }),
  z.strictObject({ type: z.literal('open_folder') }),
  z.strictObject({ type: z.literal('failed'), message: z.string().max(10_000) }),
]);
export type FromPage = z.infer<typeof fromPageSchema>;

/** A message that the user wrote during the turn, not delivered yet. */
interface QueuedView {
  readonly id: string;
  readonly text: string;
  /** Names of the attachments. */
  readonly attachments: readonly string[];
}

/** An attachment of the next message. */
export interface AttachmentView {
  /** An image's hash, a file's path, or the name of a text or a resource. */
  readonly id: string;
  readonly kind: 'image' | 'file' | 'text' | 'resource';
  readonly name: string;
  /** A thumbnail as a data URL. */
  readonly preview?: string;
}

/** Why a pending notification that would wake or interrupt the model is held back. */
export type HeldReason =
  /** The user has not written to this conversation in this window. */
  | 'not_written'
  /** The last turn was stopped or failed. */
  | 'stopped'
  | 'error'
  /** Too many automatic runs since the user's last message. */
  | 'in_a_row'
  | 'aborted_lately'
  | 'woken_lately'
  /** The model may be called only on the user's request. */
  | 'model';

/** Usage of the conversation. */
export interface Meter {
  /** Used part of the model's context window; 1 is full, and it may exceed 1. */
  readonly context: number;
  readonly tokens: number;
  readonly notificationTokens: number;
  /** In the currency of the prices; null if a used model has no prices. */
  readonly cost: number | null;
}

/** A message above the transcript while something limits the chat. */
export interface Obstacle {
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
  readonly nextStep?: string;
  /** A button with the text `label`. */
  readonly action?: { readonly label: string; readonly message: FromPage };
}

export interface ChatState {
  /** The shown conversation; null: a new chat. */
  readonly conversation: string | null;
  /** Its unsent text at the time it was shown; the page uses it only then. Null: keep the text in the composer. */
  readonly draft: string | null;
  readonly controls: Controls;
  readonly others: readonly OtherConversation[];
  readonly version: string;
  readonly hostVersion: string;
  /** The model's name and a short description: `Guide`, `offline, no AI`. */
  readonly model: { readonly label: string; readonly detail: string };
  /** The page offers them in its own menu; null if they are not listed yet. Absent: the host asks the user. */
  readonly models?: readonly ModelChoice[] | null;
  readonly title: string;
  /** The name of the open folder, for a page outside the editor; absent: the window shows it. */
  readonly folder?: string | undefined;
  readonly running: boolean;
  /** False if nothing can be sent (no storage, no folder); an obstacle says why. */
  readonly canSend: boolean;
  /** Another window owns the conversation, so only that window knows which calls wait for approval. */
  readonly followed?: boolean;
  readonly pending: {
    readonly count: number;
    readonly worst: Level | null;
    /** The most severe first; not all of a large number. */
    readonly entries: readonly PendingEntry[];
  };
  /** Null: nothing is held back. */
  readonly heldBack: HeldReason | null;
  /** Oldest first. */
  readonly queued: readonly QueuedView[];
  readonly attachments: readonly AttachmentView[];
  /** What the next request tells about the active editor; null or absent: there is none, or it must not be named. */
  readonly editor?: EditorChip | null;
  /** The composer contains a queued message that was returned undelivered. */
  readonly returned?: boolean;
  /** Null before any usage was counted. */
  readonly meter: Meter | null;
  /** What the model knows of files, as far as it was reported; null or absent if it knows none. */
  readonly freshness?: FreshnessCounts | null;
  /** Changes of the agent that are not reviewed; null or absent if there are none. */
  readonly changes?: ChangesView | null;
  readonly obstacles: readonly Obstacle[];
  /** What an empty chat suggests: for the Guide as it is, for a model a key of the translations. Absent: not known yet. */
  readonly suggestions?: readonly string[];
  /** The conversation that started this subagent; null or absent for a conversation that is not a subagent. */
  readonly parent?: { readonly id: string; readonly title: string } | null;
  /** Null or absent: the conversation is not a fork, or the original was deleted. */
  readonly origin?: ForkOrigin | null;
  /** Background commands of the conversation. */
  readonly handles: readonly HandleView[];
  /** Timers and conditions of the conversation, soonest first. */
  readonly due: readonly (DueView | FollowedView)[];
  /** The model's to-do list. */
  readonly todo: readonly TodoItem[];
  readonly items: readonly TranscriptItem[];
}

/** The parts of the state that are replaced as a whole. */
export type ChatHead = Omit<ChatState, 'items'>;

export type Change =
  | { readonly type: 'head'; readonly head: Partial<ChatHead> }
  /** Adds the item, or replaces the one with the same id in place. */
  | { readonly type: 'item'; readonly item: TranscriptItem }
  /** Appends to the answer's text or reasoning, or to the tool's output. */
  | {
      readonly type: 'text';
      readonly id: string;
      readonly field: 'text' | 'reasoning' | 'output';
      readonly text: string;
    }
  | { readonly type: 'removed'; readonly id: string };

/** A snapshot starts the numbering; each delta's number is one more than the previous message's. */
export type ToPage =
  | { readonly type: 'snapshot'; readonly number: number; readonly state: ChatState }
  | { readonly type: 'delta'; readonly number: number; readonly changes: readonly Change[] }
  /** The following messages are not numbered, since they do not change the chat's state. */
  | { readonly type: 'focus_composer' }
  /** Scrolls to an item of the transcript, and opens its card. */
  | { readonly type: 'show_item'; readonly item: string }
  /** The key for *Approve*: approves the first open request if the user has had time to see it. */
  | { readonly type: 'approve_first' }
  /** Shows the list of conversations in the panel. */
  | { readonly type: 'show_conversations' }
  | ConversationsMessage
  | PromptsMessage
  | CompletionsMessage
  /** Plays a short sound. */
  | { readonly type: 'sound' }
  | { readonly type: 'context'; readonly context: ContextView | null }
  | { readonly type: 'freshness'; readonly files: readonly FileFreshness[]; readonly older?: number }
  /** Returns a message that was not accepted; it goes before the text typed since. */
  | { readonly type: 'restore_draft'; readonly text: string }
  | { readonly type: 'diff'; readonly call: string; readonly files: readonly FileDiff[] }
  /** `data` is base64; absent if the media are not stored any more. */
  | { readonly type: 'media'; readonly hash: string; readonly data?: string };

/** Requires a handler for every message at compile time. */
export type FromPageHandlers = {
  readonly [T in FromPage['type']]: (message: Extract<FromPage, { type: T }>) => Promise<void> | void;
};
