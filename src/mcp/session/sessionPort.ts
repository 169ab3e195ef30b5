// The port to one connection with an MCP server. The client library behind it is loaded with the first server.
import { type Question } from '../../core/ports/ports.ts';
import { type Era } from '../../protocol/outside/mcp.ts';
import { EVENTS_EXTENSION, type McpEventType, type McpOccurrence } from '../../protocol/outside/mcpEvents.ts';
import { type Launch } from '../config/launch.ts';
import { type SignIn } from '../oauth/signInPort.ts';

export interface McpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolHints | undefined;
  /** Whether a call may continue as a task. */
  readonly mayBeTask: boolean;
}

/** What the server claims about its tool; nothing verifies it. */
export interface ToolHints {
  readonly title?: string | undefined;
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
}

export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  /** Set for a template: the variables that need values before the address is complete. */
  readonly variables?: readonly string[];
}

export interface McpPrompt {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string | undefined;
    readonly required: boolean;
  }[];
}

/** How a running call shows its progress and asks the user. */
export interface CallHooks {
  readonly signal: AbortSignal;
  progress(text: string): void;
  /** Undefined: the turn was stopped. */
  ask(question: Question): Promise<string | readonly string[] | undefined>;
}

export interface McpContent {
  readonly blocks: readonly unknown[];
  readonly structured?: unknown;
  readonly isError: boolean;
}

export type CallEnd =
  | { readonly type: 'result'; readonly content: McpContent }
  /** The call continues as a task with this reference. */
  | { readonly type: 'task'; readonly reference: string }
  /** The server refused the call, or answered with an error. No answer is lost. */
  | { readonly type: 'refused'; readonly message: string }
  /** The call got no answer in time, but the server answers other requests. */
  | { readonly type: 'slow'; readonly seconds: number }
  /** The answer was lost, so the call may have run. */
  | { readonly type: 'lost'; readonly message: string }
  | { readonly type: 'sign_in'; readonly message: string }
  | { readonly type: 'cancelled' };

/** `text` is the value of the only field, if the answer is not given by fields. */
export interface TaskAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  readonly text?: string;
}

export type TaskEnd =
  | { readonly type: 'completed'; readonly content: McpContent }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'cancelled' };

/** Gets the questions and the progress of a task. */
export interface TaskFollower {
  /** Answers a question of the task. The signal is aborted when the task no longer needs the answer. */
  ask(params: unknown, signal: AbortSignal): Promise<TaskAnswer>;
  /** Called when the server reports that the task is working; `text` may describe its progress. */
  working(text: string | undefined): void;
}

/** A call that continues on the server even without a connection. */
export interface McpTask {
  /** Follows it to its end. Rejects if the end is not known, for example because the connection was lost. */
  settle(signal: AbortSignal): Promise<TaskEnd>;
  /** Stops following it. */
  detach(): Promise<void>;
}

export interface EventRequest {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Null: from now on. */
  readonly cursor: string | null;
  /** Older events are not delivered again. */
  readonly maxAgeMs?: number;
  readonly maxEvents?: number;
  /** How long the server may wait for an event before it answers. */
  readonly timeoutMs?: number;
}

export interface EventPage {
  readonly events: readonly McpOccurrence[];
  readonly cursor: string | null;
  /** Events were skipped. */
  readonly truncated: boolean;
  readonly hasMore: boolean;
  readonly nextPollMs?: number | undefined;
}

export type EventFrame =
  | { readonly type: 'event'; readonly occurrence: McpOccurrence }
  /** `isFirst`: the stream begins, or continues after a gap. */
  | {
      readonly type: 'position';
      readonly cursor: string | null;
      readonly truncated: boolean;
      readonly isFirst: boolean;
    };

/** The events of one connection. Each rejects with an `EventFailure`. */
export interface McpEvents {
  list(): Promise<readonly McpEventType[]>;
  poll(request: EventRequest, signal: AbortSignal): Promise<EventPage>;
  /** Resolves once the server has closed the stream; rejects if the signal is aborted. */
  stream(request: EventRequest, frame: (frame: EventFrame) => void, signal: AbortSignal): Promise<void>;
}

/**
 * `refused`: the server answered with an error; `ended`: it has ended a stream; `invalid`: its answer cannot be used;
 * `lost`: there was no answer.
 */
export class EventFailure extends Error {
  readonly kind: 'sign_in' | 'refused' | 'ended' | 'invalid' | 'lost';
  readonly code: number | undefined;

  constructor(kind: EventFailure['kind'], message: string, code?: number) {
    super(message);
    this.name = 'EventFailure';
    this.kind = kind;
    this.code = code;
  }
}

export interface McpSession {
  readonly era: Era;
  readonly version: string;
  readonly title: string;
  readonly instructions: string | undefined;
  /** The id of the server's process; undefined for a server over HTTP. */
  readonly pid: number | undefined;
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
  /** Undefined: the server has none. */
  readonly events: McpEvents | undefined;
  /** It announces that it sends messages without being asked. */
  readonly hasChannel: boolean;
  listTools(): Promise<readonly McpTool[]>;
  call(tool: string, args: Readonly<Record<string, unknown>>, hooks: CallHooks): Promise<CallEnd>;
  resumeTask(reference: string, follower: TaskFollower): Promise<McpTask>;
  /** Rejects if the server does not answer: after `limits.probe` if `isAwaited`, otherwise after `limits.request`. */
  cancelTask(reference: string, how: { readonly isAwaited: boolean }): Promise<void>;
  /** Lists resources first, then templates. */
  listResources(): Promise<readonly McpResource[]>;
  /** `values`: the address is a template, and these are the values of its variables. */
  readResource(uri: string, values?: Readonly<Record<string, string>>): Promise<McpContent & { readonly uri: string }>;
  /** Makes the server announce changes of these resources and no others. */
  watchResources(uris: readonly string[]): Promise<void>;
  listPrompts(): Promise<readonly McpPrompt[]>;
  getPrompt(name: string, args: Readonly<Record<string, string>>): Promise<string>;
  /** Resolves once the connection is closed and the process has ended. */
  close(): Promise<void>;
  /** Ends it at once, without calling the listener. */
  kill(): void;
}

interface McpSessionListener {
  /** Called once when the connection is lost, not after `close` or `kill`. */
  ended(reason: string): void;
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  resourceUpdated(uri: string): void;
  event(text: string): void;
  /** The server announced other events. */
  eventsChanged(): void;
}

export interface McpSessionLimits {
  /** Time-out of a request that has no answer and reports no progress. */
  readonly request: number;
  /** How long an answer to a probe, or a reopened stream, may take before the server counts as lost. */
  readonly probe: number;
  readonly connect: number;
  /** How long a process may take to answer which era it speaks. */
  readonly era: number;
}

export const LIMITS: McpSessionLimits = { request: 60_000, probe: 10_000, connect: 60_000, era: 10_000 };

/** The extension with which servers and this client declare support for tasks (revision 2026-07-28). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The capabilities that this client declares to servers. */
export const CLIENT_CAPABILITIES = {
  elicitation: { form: { applyDefaults: true }, url: {} },
  extensions: { [TASKS_EXTENSION]: {}, [EVENTS_EXTENSION]: {} },
};

export interface McpSessionDeps {
  readonly server: string;
  /** Changes only if the server's configuration changes. */
  readonly identity: string;
  readonly launch: Launch;
  readonly client: { readonly name: string; readonly version: string };
  readonly limits: McpSessionLimits;
  readonly listener: McpSessionListener;
  /** Absent: signing in is not possible. */
  readonly signIn?: SignIn | undefined;
  /** Whether an earlier connection found that this program speaks a revision before 2026-07-28. */
  readonly knownLegacy: boolean;
  log(line: string): void;
  /** Opens an address in the user's browser. */
  openExternal(url: string): Promise<boolean>;
}

/** `sign_in`: the user has to sign in; `failed`: everything else. */
export class McpSessionError extends Error {
  readonly kind: 'sign_in' | 'failed';

  constructor(kind: 'sign_in' | 'failed', message: string) {
    super(message);
    this.name = 'McpSessionError';
    this.kind = kind;
  }
}

export type OpenMcpSession = (deps: McpSessionDeps, signal: AbortSignal) => Promise<McpSession>;
