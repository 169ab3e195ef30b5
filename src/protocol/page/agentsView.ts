// The state of the Agents view, and the messages of its page.
import * as z from 'zod';
import { conversationId } from './conversationsView.ts';

const threadId = z.string().min(1).max(64);

export const fromAgentsPageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  /** Null: back to the list. Shown messages count as read. */
  z.strictObject({ type: z.literal('open_thread'), thread: threadId.nullable() }),
  z.strictObject({
    type: z.literal('send'),
    /** Null for a new thread. */
    thread: threadId.nullable(),
    title: z.string().max(200),
    text: z.string().min(1).max(500_000),
    mentions: z.array(z.string().min(1).max(80)).max(100),
    /** Files that the message is about. */
    files: z.array(z.string().min(1).max(4096)).max(100),
  }),
  z.strictObject({ type: z.literal('open_conversation'), id: conversationId }),
  z.strictObject({ type: z.literal('failed'), message: z.string().max(10_000) }),
]);
export type FromAgentsPage = z.infer<typeof fromAgentsPageSchema>;

/** `here`: a conversation of this window, `window`: one of another window, `other`: another program's agent. */
type AgentKind = 'me' | 'user' | 'here' | 'window' | 'other' | 'remote';

export interface AgentView {
  readonly name: string;
  readonly role: string;
  /** The title of a conversation. */
  readonly display: string;
  readonly kind: AgentKind;
  /** Set for an agent on another machine. */
  readonly machine?: string;
  readonly live: boolean;
  /** RFC 3339. */
  readonly lastSeen: string;
  /** Messages that it has not read, or that are pending for its model; absent if this window does not know. */
  readonly unread?: number;
  /** A conversation of this window. */
  readonly conversation?: string;
  readonly activity?: 'approval' | 'question' | 'running';
  /** Set for a subagent; `of` is the name of the agent that started it, empty if that one is not in this window. */
  readonly subagent?: { readonly of: string };
}

export interface ThreadView {
  readonly id: string;
  readonly title: string;
  readonly messages: number;
  readonly unread: number;
  readonly lastSender: string;
  readonly preview: string;
  /** RFC 3339. */
  readonly at: string;
}

export interface AgentMessageView {
  readonly id: string;
  readonly author: string;
  readonly machine?: string;
  readonly own: boolean;
  readonly format: string;
  /** Shortened if it is very long. */
  readonly text: string;
  readonly deleted: boolean;
  readonly edited: boolean;
  /** RFC 3339. */
  readonly at: string;
  readonly mentions: readonly string[];
  /** `file:src/menu.ts` */
  readonly scopes: readonly string[];
  /** Names of conversations of this window whose models have not received it yet. */
  readonly pendingIn: readonly string[];
}

/** The connection to the hubs of other machines. */
export interface MachinesView {
  readonly state: string;
  readonly error?: string;
  readonly notSent: number;
  readonly full: boolean;
}

export interface AgentsState {
  /** `off`: switched off, not trusted, or no folder. */
  readonly hub: 'off' | 'connecting' | 'connected';
  /** The user's own name on the hub; empty before it has one. */
  readonly me: string;
  readonly agents: readonly AgentView[];
  readonly threads: readonly ThreadView[];
  readonly thread: { readonly id: string; readonly messages: readonly AgentMessageView[] } | null;
  /** Null: this hub is not joined with those of other machines. */
  readonly machines: MachinesView | null;
}

export type ToAgentsPage =
  | { readonly type: 'agents'; readonly state: AgentsState }
  /** A message was not sent; its text is returned to the composer. */
  | { readonly type: 'not_sent'; readonly text: string; readonly problem: string };
