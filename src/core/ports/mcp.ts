// MCP servers as core and the producer of `mcp.*` notifications see them. Implemented in mcp/.
import { type Event } from '../../base/emitter.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Result } from '../../base/errors.ts';
import { type EventMode, type SettingsOf } from '../../protocol/lines/eventSubscriptions.ts';
import { type ServerState } from '../../protocol/outside/mcp.ts';

export type McpChange =
  /** The connection is lost; `tools` cannot be called until it is restored. Fires once for each loss. */
  | { readonly type: 'lost'; readonly server: string; readonly reason: string; readonly tools: readonly string[] }
  | { readonly type: 'resource'; readonly server: string; readonly uri: string }
  /** This conversation was shown the current content of the resource. */
  | { readonly type: 'read'; readonly server: string; readonly uri: string; readonly conversation: string }
  /** A message that the server sent on its own: data from outside. */
  | { readonly type: 'event'; readonly server: string; readonly text: string };

export interface McpServerView {
  readonly name: string;
  readonly state: ServerState;
  /** Why it is not connected. */
  readonly problem?: string;
}

/** What a conversation subscribes to. */
export interface WantedEvents {
  readonly server: string;
  /** Distinguishes servers that have the same name, now or later. */
  readonly identity: string;
  readonly event: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly mode: EventMode;
  /** The position to read on from; null: the server keeps nothing. */
  readonly cursor: string | null;
  /** The entry of the user's setting that asks for it. */
  readonly setting?: string | undefined;
  /** Whose settings have this entry; only they end the subscription by removing it. */
  readonly settings?: SettingsOf | undefined;
}

export interface EventSubscription extends WantedEvents {
  readonly name: string;
  /** The event that began it. */
  readonly id: string;
  readonly grant?: string;
  readonly paused: boolean;
  /** How many events came. */
  readonly count: number;
  /** When the log last heard of it, in milliseconds since 1970. */
  readonly at: number;
}

/** The subscriptions of one conversation. */
export interface EventSubscriptions {
  /** By name. A new map after each change. */
  readonly all: ReadonlyMap<string, EventSubscription>;
  /** Whether the conversation got this event by this subscription. */
  isKnown(name: string, event: string): boolean;
  /** Whether somebody has ended the subscription that this entry of the setting asked for. */
  wasEnded(setting: string): boolean;
}

export type EventsChange =
  | { readonly type: 'events_unsubscribed'; readonly name: string; readonly by: 'model' | 'user' | 'setting' }
  | { readonly type: 'events_paused'; readonly name: string; readonly paused: boolean }
  | { readonly type: 'events_cursor'; readonly name: string; readonly cursor?: string };

export interface ReceivedEvent {
  readonly id: string;
  /** When it happened, as the server says. */
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What came since the last call, in order. */
export interface ReceivedEvents {
  readonly events: readonly ReceivedEvent[];
  /** The position after them; absent: not known. */
  readonly cursor?: string | null;
  /** Why events before these may be missing. */
  readonly missed?: string;
  /** When the connection began, in milliseconds since 1970: earlier events are delivered late. */
  readonly connected: number;
}

/** Gets the events of one subscription. */
export interface EventSink {
  /** The position to read on from. */
  cursor(): string | null;
  /** Resolves once they are on disk; nothing more is passed before that. */
  accept(received: ReceivedEvents): Promise<void>;
  /** The server does not deliver any more, and never will. */
  ended(reason: string): Promise<void>;
  /** `problem`: why nothing comes at the moment, for people. */
  state(problem: string | undefined): void;
}

export interface McpEventSource {
  /** Fires when a server has connected, or announced other events. */
  readonly onDidConnect: Event<void>;
  /** What a subscription would be, once the server has agreed. */
  open(wanted: Pick<WantedEvents, 'server' | 'event' | 'arguments'>): Promise<Result<WantedEvents>>;
  /** Follows it until the result is disposed of, across restarts of the server. */
  follow(subscription: EventSubscription, sink: EventSink): Disposable;
}

export interface McpSource {
  readonly onDidChange: Event<McpChange>;
  servers(): readonly McpServerView[];
  readonly events: McpEventSource;
  /** Replaces the set of resources whose changes are reported. They are named as by `resourceName`. */
  watch(resources: ReadonlySet<string>): void;
}

/** The tool of an MCP server that a call uses; approvals are decided by it. */
export interface TouchedServer {
  readonly name: string;
  /** Distinguishes servers that have the same name, now or later. */
  readonly identity: string;
  /** The tool's name on the server. */
  readonly tool: string;
  /** The server's own statement about the tool, for people: that it only reads, or that it may destroy something. */
  readonly note?: string;
  /** An *Always* for the whole server does not cover this tool. */
  readonly alone?: true;
}
