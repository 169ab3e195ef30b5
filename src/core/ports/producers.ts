// What producers learn of conversations: their calls, their subscriptions, and their state at a delivery point.
import { type Event } from '../../base/emitter.ts';
import { type Kind, type Notification, type NotificationDraft } from '../../protocol/notification.ts';

/** A tool call that may change something, from when it was allowed until a while after its end. */
export interface ActiveCall {
  readonly conversation: string;
  readonly tool: string;
  /** A shell's command line. */
  readonly command?: string;
  /** Files that it names. */
  readonly paths: readonly string[];
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly ended?: number;
  /** Once it has ended: what it made of files, by hash; undefined: it removed the file. */
  readonly made: ReadonlyMap<string, string | undefined>;
}

/** A command of the conversation replaced bytes that somebody else had written since the model read the file. */
export interface ConversationOverwrite {
  readonly path: string;
  /** The hash of the bytes that are gone. */
  readonly lost: string;
  /** The hash of what the command left; undefined: it removed the file. */
  readonly now: string | undefined;
  readonly command: string;
}

/** The titles, subscriptions and activity of live conversations. */
export interface LiveConversations {
  ids(): readonly string[];
  /** Empty while it has none. */
  title(conversation: string): string;
  /** Its name if it is a subagent. */
  subagent?(conversation: string): string | undefined;
  /** The globs that any of them watches, or this one. */
  globs(conversation?: string): ReadonlySet<string>;
  /** The resources of MCP servers that any of them has read, as `resourceName` names them. */
  resources(): ReadonlySet<string>;
  /** Those that ran at any moment since then, oldest first. */
  callsSince(time: number): readonly ActiveCall[];
  /** Its newest pending notification of this kind and subject. */
  pending(conversation: string, kind: Kind, subject: string): Notification | undefined;
  /** A call that is not answered yet has changed this file or is about to. */
  isChanging(path: string): boolean;
  /** The bytes of others that its own commands replaced since the last call. */
  takeOverwritten(conversation: string): readonly ConversationOverwrite[];
  /** Globs, resources, or which calls run. */
  readonly onDidChange: Event<void>;
}

/** The tools of an MCP server that can be called, whether a request has their schemas or not. */
export interface OfferedServer {
  readonly name: string;
  /** By the name that the model calls it by: a hash of the description and the schema. */
  readonly tools: Readonly<Record<string, string>>;
}

/** A text that is stored by its hash. */
interface NamedText {
  readonly name: string;
  readonly hash: string;
}

/** What a request holds besides the messages. */
export interface RequestConfig {
  readonly model: string;
  readonly mode: string;
  /** Without those of MCP servers. */
  readonly tools: readonly string[];
  readonly servers: readonly OfferedServer[];
  /** Instruction files, by the hash of the text in the prompt. */
  readonly instructions: readonly NamedText[];
  /** Skills that the model is offered, by the hash of their SKILL.md. */
  readonly skills: readonly NamedText[];
}

/** What a conversation was last notified of state that is compared at delivery points. */
export interface SampledState {
  /** What the last request had, as far as the log says. */
  readonly used: Partial<RequestConfig>;
  /** The last reported fill of the context window in percent; 0: none was reported since it was last compacted. */
  readonly reportedContext: number;
  /** How often the endpoint asked to slow down since that was last reported. */
  readonly rateLimited: { readonly count: number; readonly since: string } | undefined;
}

export interface DeliveryPoint {
  readonly conversation: string;
  readonly type: 'request' | 'result';
  /** Something else is carried at this point already. */
  readonly carries: boolean;
  readonly state: SampledState;
  /** What the last request had, as far as it is known, and what the next one will have. */
  readonly used: Partial<RequestConfig>;
  readonly config: RequestConfig;
  /** The prompt's text of an instruction file, by its hash; undefined if it is no longer stored. */
  instruction(hash: string): Promise<string | undefined>;
  /** The same for the SKILL.md of a skill. */
  skill(hash: string): Promise<string | undefined>;
  /** How long the next request will be, and how long it may be. */
  readonly contextTokens: number;
  readonly contextWindow: number;
}

/** The draft replaces what is pending of this kind and subject; without a draft that is withdrawn; `keep`: it stays. */
export interface Sample extends Pick<NotificationDraft, 'kind'> {
  readonly subject: string;
  readonly keep?: true;
  /** Replaces only a pending notification with this message; if that was carried or has changed, nothing is done. */
  readonly replaces?: string;
  readonly draft?: Pick<NotificationDraft, 'level' | 'message' | 'origin' | 'data'>;
}

export interface ProducerHost {
  readonly live: LiveConversations;
  /** It cannot continue: it is stopped, reported once and restarted after a while. */
  broke(error: unknown): void;
}
