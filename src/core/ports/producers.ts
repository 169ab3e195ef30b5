// What producers can find out about conversations: their calls, their subscriptions, and their state at a delivery
// point.
import { type Event } from '../../base/emitter.ts';
import { type FollowedCommit } from '../../protocol/forge/followedCommit.ts';
import { type LinePosition } from '../../protocol/lines/lineWatch.ts';
import { type Kind, type Notification, type NotificationDraft } from '../../protocol/notification.ts';
import { type EventsChange, type EventSubscriptions, type WantedEvents } from './mcp.ts';

/** A tool call that may change something, from when it was allowed until a while after its end. */
export type UserReview = 'undo' | 'restore' | 'revert';

export interface ActiveCall {
  readonly conversation: string;
  readonly tool: string;
  /** A shell's command line. */
  readonly command?: string;
  /** Not a call: the user undid or restored changes of this conversation. */
  readonly review?: UserReview;
  /** Files that it names. */
  readonly paths: readonly string[];
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly ended?: number;
  /** Once it has ended: the hash of each file that it changed, by path; undefined: it removed the file. */
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

/** What a call asks for. */
export interface WantedLines {
  readonly patterns: readonly string[];
  readonly quietAfterSeconds?: number | undefined;
}

export interface LineWatch {
  /** The event that began it. */
  readonly id: string;
  /** The scope of a handle or of a file. */
  readonly target: string;
  readonly patterns: readonly string[];
  readonly quietAfterSeconds?: number;
  /** The standing wake that the user has approved for it. */
  readonly grant?: string;
  readonly position: LinePosition;
  /** How often each pattern matched, by its index. */
  readonly matches: readonly number[];
  /** The size at which a silence was reported; it is reported again only after more was printed. */
  readonly quiet?: number;
}

/** How far a source was searched without a report. */
interface LinesSearched {
  readonly watch: string;
  readonly position: LinePosition;
  /** There will be no more lines. */
  readonly done?: true;
}

/** The titles, subscriptions and activity of live conversations. */
export interface LiveConversations {
  ids(): readonly string[];
  /** Empty while it has none. */
  title(conversation: string): string;
  /** Its name, if it is a subagent. */
  subagent?(conversation: string): string | undefined;
  /** The globs that this conversation watches; without an argument, those of all live conversations. */
  globs(conversation?: string): ReadonlySet<string>;
  /** The resources of MCP servers that any of them has read, as `resourceName` names them. */
  resources(): ReadonlySet<string>;
  /** The lines that this conversation waits for, by the scope of their source. */
  lines(conversation: string): ReadonlyMap<string, LineWatch>;
  /** Resolves once it is on disk. Does nothing if the conversation is not live. */
  linesSearched(conversation: string, searched: LinesSearched): Promise<void>;
  /** The events of MCP servers that this conversation subscribed to. */
  events(conversation: string): EventSubscriptions | undefined;
  /** Subscribes for the user, by a setting. `wake`: events may wake the model. Undefined: it is not live. */
  subscribeEvents(conversation: string, wanted: WantedEvents, wake: boolean): Promise<string | undefined>;
  /** Whether the conversation may still be woken by this grant. */
  mayWake(conversation: string, grant: string): boolean;
  /** Resolves once it is on disk. Does nothing if the conversation is not live. */
  changeEvents(conversation: string, change: EventsChange): Promise<void>;
  /** The lines from scripts that this conversation got. */
  scripts(conversation: string): ScriptRecord | undefined;
  /** What this conversation has to do with commits; undefined: another window owns it. */
  commits(conversation: string): CommitRecord | undefined;
  /** The conversation gets the results of this commit. Resolves once that is on disk. */
  followCommit(conversation: string, commit: FollowedCommit): Promise<void>;
  /** The calls that ran at any moment since then, oldest first. */
  callsSince(time: number): readonly ActiveCall[];
  /** Its newest pending notification of this kind and subject. */
  pending(conversation: string, kind: Kind, subject: string): Notification | undefined;
  /** A call that is not answered yet has changed this file or is about to. */
  isChanging(path: string): boolean;
  /** The bytes of others that the conversation's own commands have replaced since this was last called. */
  takeOverwritten(conversation: string): readonly ConversationOverwrite[];
  /** Fires when the globs, the resources, the lines, the events or the running calls have changed. */
  readonly onDidChange: Event<void>;
}

interface ScriptRecord {
  /** The conversation's secret. */
  readonly key: string;
  /** Whether the conversation got this line, or within a day one with the same key. */
  isKnown(line: { readonly id: string; readonly key?: string | undefined }, now: number): boolean;
  /** How often lines of one of its commands have woken it. */
  wakesOf(run: string): number;
}

interface CommitRecord {
  /** At most one of each branch; `since`: when the first one of the branch was followed. */
  readonly followed: readonly (FollowedCommit & { readonly since: number })[];
  /** The files that it has changed. */
  readonly changed: ReadonlySet<string>;
  /** The conversation that started this one as a subagent. */
  readonly parent: string | undefined;
  /** An outside agent, of whose calls only those are known that its hook reports. */
  readonly isListener: boolean;
  /** Whether one of its calls that names git ran then. */
  ranGit(at: number): boolean;
  /** The state of this subject that was reported last. */
  reported(subject: string): string | undefined;
  isKnownReview(id: string): boolean;
}

/** The tools of an MCP server that can be called, whether a request has their schemas or not. */
export interface OfferedServer {
  readonly name: string;
  /** A hash of each tool's description and schema, by the name under which the model calls the tool. */
  readonly tools: Readonly<Record<string, string>>;
}

/** A text that is stored by its hash. */
interface NamedText {
  readonly name: string;
  readonly hash: string;
}

/** What the model is told besides the messages: in the prefix of its requests, or by later notifications. */
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
  /** Absolute paths. */
  readonly folders: readonly string[];
  /** The local day, as 2026-11-18. */
  readonly date: string;
  /** For a subagent: the name of its parent on the hub, and the tool that reaches it. */
  readonly parent?: { readonly name: string; readonly tool: string };
}

/** The last reported values of the state that is compared at delivery points. */
export interface SampledState {
  /** The configuration that the model knows, as far as the log says. */
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
  /** The configuration that the model knows, and the current one. */
  readonly used: Partial<RequestConfig>;
  readonly config: RequestConfig;
  /** How long the next request will be, and how long it may be. */
  readonly contextTokens: number;
  readonly contextWindow: number;
}

/**
 * The draft replaces the pending notification of this kind and subject. Without a draft that is withdrawn; with `keep`
 * it stays.
 */
export interface Sample extends Pick<NotificationDraft, 'kind'> {
  readonly subject: string;
  readonly keep?: true;
  /** Replaces only a pending notification with this message; if that was carried or has changed, nothing is done. */
  readonly replaces?: string;
  readonly draft?: Pick<NotificationDraft, 'level' | 'message' | 'origin' | 'data'>;
}

export interface ProducerHost {
  readonly live: LiveConversations;
  /** Call when the producer cannot continue: it is stopped, reported once and restarted after a while. */
  broke(error: unknown): void;
}
