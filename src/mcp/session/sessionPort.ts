// One connection to an MCP server as the rest of mcp/ sees it. The client library behind it is loaded with the first server.
import { type Question } from '../../core/ports/ports.ts';
import { type Era } from '../../protocol/outside/mcp.ts';
import { type Launch } from '../config/launch.ts';
import { type SignIn } from '../oauth/signInPort.ts';

export interface McpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolHints | undefined;
  /** A call may go on as a task. */
  readonly mayBeTask: boolean;
}

/** What the server says of its tool. Nobody checks it. */
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
  /** It is a template: its address is complete once these have values. */
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

/** What a call shows of itself while it runs, and how it asks the user. */
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
  /** It goes on as a task, which is found by this reference. */
  | { readonly type: 'task'; readonly reference: string }
  /** The server refused the call, or answered with an error: it surely has the answer. */
  | { readonly type: 'refused'; readonly message: string }
  /** No answer in time, though the server answers other requests. */
  | { readonly type: 'slow'; readonly seconds: number }
  /** Its answer was lost: it may have run. */
  | { readonly type: 'lost'; readonly message: string }
  | { readonly type: 'sign_in'; readonly message: string }
  | { readonly type: 'cancelled' };

/** `text`: the value of the only field. */
export interface TaskAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  readonly text?: string;
}

export type TaskEnd =
  | { readonly type: 'completed'; readonly content: McpContent }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'cancelled' };

/** Who follows a task. */
export interface TaskFollower {
  /** What the task asks for. Once the signal is aborted, it is not asked for any more. */
  ask(params: unknown, signal: AbortSignal): Promise<TaskAnswer>;
  /** Its server says that it is working, and how far it got. */
  working(text: string | undefined): void;
}

/** A call that goes on at the server without a connection. */
export interface McpTask {
  /** Follows it to its end. Rejects if that was not learnt, for example because the connection was lost. */
  settle(signal: AbortSignal): Promise<TaskEnd>;
  /** Stops following it. */
  detach(): Promise<void>;
}

export interface McpSession {
  readonly era: Era;
  readonly version: string;
  readonly title: string;
  readonly instructions: string | undefined;
  /** The server's process; undefined: it is reached over HTTP. */
  readonly pid: number | undefined;
  readonly hasResources: boolean;
  readonly hasPrompts: boolean;
  listTools(): Promise<readonly McpTool[]>;
  call(tool: string, args: Readonly<Record<string, unknown>>, hooks: CallHooks): Promise<CallEnd>;
  resumeTask(reference: string, follower: TaskFollower): Promise<McpTask>;
  /** Rejects if the server did not answer; soon if somebody waits for the result, otherwise as late as for any request. */
  cancelTask(reference: string, how: { readonly isAwaited: boolean }): Promise<void>;
  /** Templates last. */
  listResources(): Promise<readonly McpResource[]>;
  /** `values`: the address is a template. */
  readResource(uri: string, values?: Readonly<Record<string, string>>): Promise<McpContent & { readonly uri: string }>;
  /** Only changes of these are announced. */
  watchResources(uris: readonly string[]): Promise<void>;
  listPrompts(): Promise<readonly McpPrompt[]>;
  getPrompt(name: string, args: Readonly<Record<string, string>>): Promise<string>;
  /** Resolves once nothing of it is left. */
  close(): Promise<void>;
  /** At once; nothing is announced. */
  kill(): void;
}

interface SessionListener {
  /** Once, unless it was closed from here. */
  ended(reason: string): void;
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  resourceUpdated(uri: string): void;
  event(text: string): void;
}

export interface SessionLimits {
  /** A request without an answer and without progress for so long has run into its time-out. */
  readonly request: number;
  /** How long an answer to a probe, or a reopened stream, may take before the server counts as lost. */
  readonly probe: number;
  readonly connect: number;
  /** How long a process may take to answer the question which era it speaks. */
  readonly era: number;
}

export const LIMITS: SessionLimits = { request: 60_000, probe: 10_000, connect: 60_000, era: 10_000 };

/** How a server, and this client, says that it has tasks (revision 2026-07-28). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The capabilities that this client declares to servers. */
export const CLIENT_CAPABILITIES = {
  elicitation: { form: { applyDefaults: true }, url: {} },
  extensions: { [TASKS_EXTENSION]: {} },
};

export interface SessionDeps {
  readonly server: string;
  /** The same as long as its configuration is. */
  readonly identity: string;
  readonly launch: Launch;
  readonly client: { readonly name: string; readonly version: string };
  readonly limits: SessionLimits;
  readonly listener: SessionListener;
  /** Absent: it cannot be signed in to. */
  readonly signIn?: SignIn | undefined;
  /** What was learnt of this program before: it speaks a revision before 2026-07-28. */
  readonly knownLegacy: boolean;
  log(line: string): void;
  /** Opens an address in the user's browser. */
  openExternal(url: string): Promise<boolean>;
}

/** `sign_in`: the user has to sign in; `failed`: everything else. */
export class SessionError extends Error {
  readonly kind: 'sign_in' | 'failed';

  constructor(kind: 'sign_in' | 'failed', message: string) {
    super(message);
    this.name = 'SessionError';
    this.kind = kind;
  }
}

export type OpenSession = (deps: SessionDeps, signal: AbortSignal) => Promise<McpSession>;
