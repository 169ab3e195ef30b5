// The list of conversations as the page shows it, and the page's messages about it.
import * as z from 'zod';
import { type ListedChoice } from './controlsView.ts';

/** Part of a file name on disk. */
export const conversationId = z.string().regex(/^\w{1,100}$/);

export const conversationsMessages = [
  /** Requests what the user wrote in other conversations; answered with `prompts`. */
  z.strictObject({ type: z.literal('list_prompts') }),
  z.strictObject({ type: z.literal('open_conversation'), id: conversationId }),
] as const;

/** What a conversation is doing, or what happened in it since it was last shown. */
export type ConversationActivity = 'approval' | 'question' | 'running' | 'failed' | 'unread';

export interface ConversationView {
  readonly id: string;
  /** Empty if nobody has written in it yet. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly lastActivity: number;
  readonly activity?: ConversationActivity;
  /** Set for a subagent. `nested`: listed below the conversation that started it. */
  readonly subagent?: { readonly name: string; readonly nested: boolean };
  readonly forked?: true | undefined;
  /** What holds in it. */
  readonly choice?: ListedChoice | undefined;
  /** How many files have changes that are not reviewed. */
  readonly unreviewed?: number | undefined;
  /** How many background commands run. */
  readonly commands?: number | undefined;
  /** Why it cannot be read. */
  readonly problem?: string | undefined;
  /** Text around the match. */
  readonly excerpt?: string;
}

/** The conversation of which the shown one is a fork, and what is left to do there. */
export interface ForkOrigin extends Pick<ConversationView, 'id' | 'title' | 'unreviewed' | 'commands'> {
  /** The message that the fork sends again: files can be restored to their state before it. */
  readonly request?: string;
}

export interface ConversationsMessage {
  readonly type: 'conversations';
  /** Answers to earlier queries are ignored. */
  readonly query: string;
  readonly items: readonly ConversationView[];
  /** The search in further conversations is still running. */
  readonly searching: boolean;
}

/** What the user wrote in other conversations of the folder, the newest first. */
export interface PromptsMessage {
  readonly type: 'prompts';
  readonly texts: readonly string[];
}

/** A conversation, other than the shown one, that is running or has unseen activity. */
export interface OtherConversation {
  readonly id: string;
  readonly title: string;
  readonly activity: ConversationActivity;
  /** The model that it uses. */
  readonly model?: string;
  /** Its name, if it is a subagent. */
  readonly subagent?: string;
}
