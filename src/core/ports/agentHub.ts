// The hub as conversations, tools and the messages producer use it: other agents and the messages between them.
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type HubCode } from '../../base/failureCodes.ts';
import { type Result } from '../../base/errors.ts';
import { type HubMessage, type MessagePush } from '../../protocol/hubMethods.ts';

/** A conversation's name on one hub, and the cursor up to which its messages there are in its log. */
export interface HubPlace {
  readonly name: string;
  readonly cursor: string;
}

/** A conversation that this window owns, as the hub needs it. */
export interface AgentConversation {
  readonly id: string;
  title(): string;
  /** The files it has seen. */
  seenPaths(): Iterable<string>;
  place(hub: string): HubPlace | undefined;
  /** The name it has on any hub. */
  name(): string | undefined;
  /** Resolves once the place is in the log. */
  remember(hub: string, place: HubPlace): Promise<unknown>;
  readonly onDidChangeTitle: Event<void>;
  /** Fires with the files that it has just seen. */
  readonly onDidSee: Event<readonly string[]>;
}

/** A message for a conversation, received live or fetched after a reconnect. Each comes once, in order of arrival. */
export interface IncomingMessage extends MessagePush {
  readonly conversation: string;
  /** The conversation's own name. */
  readonly name: string;
  readonly hub: string;
}

export interface OutgoingMessage {
  readonly content: string;
  /** Names of agents or roles. */
  readonly to: readonly string[];
  /** Files that it is about. */
  readonly files: readonly string[];
  readonly replyTo?: string | undefined;
}

export interface SentMessage {
  readonly id: string;
  /** Everyone it mentions, including the author of the message it replies to. */
  readonly to: readonly string[];
  /** The agents in `to` that are not connected now. */
  readonly absent: readonly string[];
}

export interface ListedAgent {
  readonly name: string;
  readonly role: string;
  readonly display: string;
  readonly machine?: string | undefined;
  readonly live: boolean;
  /** RFC 3339. */
  readonly lastSeen: string;
  /** This entry is the conversation itself. */
  readonly own: boolean;
}

/** The messages of one agent. */
export interface MessagingAgent {
  /** Repeats a request without an answer with the same `client_id`, so that it creates only one message. */
  send(message: OutgoingMessage, signal?: AbortSignal): Promise<Result<SentMessage, HubCode>>;
  /** Returns the whole message and marks it as read. */
  read(id: string): Promise<Result<HubMessage, HubCode>>;
  /** The newest unread messages for the agent, oldest first. */
  unread(): Promise<Result<readonly HubMessage[], HubCode>>;
  agents(): Promise<Result<readonly ListedAgent[], HubCode>>;
}

export interface AgentHub {
  /** The conversation is an agent on the hub until the result is disposed of. */
  join(conversation: AgentConversation): Disposable;
  /** The conversation's name; undefined before it was first on the hub. */
  nameOf(conversation: string): string | undefined;
  readonly onDidReceive: Event<IncomingMessage>;
  /** Call once everything up to this message is queued on disk for the conversation. */
  stored(message: IncomingMessage): Promise<void>;
  /** A failure: it is not on the hub now. */
  agentOf(conversation: string): Result<MessagingAgent, HubCode>;
  /** Call after a conversation was deleted: other agents may then use its names. */
  forget(names: Iterable<string>): Promise<void>;
}
