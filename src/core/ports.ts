// What the core needs from outside. Every port is implemented in a layer above and joined in vscode/compose.
import { type Clock } from '../base/clock.ts';
import { type Disposable } from '../base/disposable.ts';
import { type Event } from '../base/emitter.ts';
import { type Failure, type Result } from '../base/errors.ts';
import { type LogEvent, type Usage } from '../protocol/event.ts';
import { type NotificationDraft } from '../protocol/notification.ts';
import { type Settings } from '../protocol/settings.ts';
import { type Effect, type ToolDescription } from '../protocol/tool.ts';
import { type ModelMessage } from './conversation/messages.ts';
import { type SeenState } from './conversation/seen.ts';

export type { Clock } from '../base/clock.ts';

/** For people who look for a fault: the output channel. Never the model, never the chat. */
export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string, error?: unknown): void;
}

export interface Ids {
  /** Rises with each call. */
  ulid(): string;
  /** At least 64 random bits, safe inside an XML attribute. */
  key(): string;
}

/** One conversation's log on disk. */
export interface EventFile {
  /** Writes one event after all earlier ones; resolves once it would survive a power loss, rejects with a FailureError. */
  append(event: LogEvent): Promise<void>;
  close(): Promise<void>;
}

export interface OpenedLog {
  readonly file: EventFile;
  readonly events: readonly LogEvent[];
  readonly nextSeq: number;
  /** What was damaged, and where the damaged bytes are kept. */
  readonly damage: readonly Failure[];
}

/** All conversations of one workspace. */
export interface Store {
  open(conversation: string): Promise<Result<OpenedLog>>;
  /** Ids, the one written to last first. */
  list(): Promise<Result<readonly string[]>>;
}

/** Bytes by their hash: what the model last saw of a file. */
export interface Snapshots {
  /** Resolves once the bytes are on disk. */
  put(bytes: Uint8Array): Promise<string>;
  get(hash: string): Promise<Uint8Array | undefined>;
  hash(bytes: Uint8Array): string;
}

export interface FilePath {
  /** As people and models say it: relative to the workspace, `/` between the parts. */
  readonly path: string;
  /** As the machine says it. */
  readonly absolute: string;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** The bytes are those of an editor's buffer with changes that are not saved. */
  readonly unsaved: boolean;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
}

/** The editor's files. Fails with a message the model can act on. */
export interface Workspace {
  /** Empty: no folder is open. */
  readonly folders: readonly FilePath[];
  readonly trusted: boolean;
  /** Refuses what lies outside the folders, also by `..` or through a link. */
  resolve(path: string): Promise<Result<FilePath>>;
  read(file: FilePath): Promise<Result<FileContent>>;
  list(folder: FilePath): Promise<Result<readonly FolderEntry[]>>;
}

export type ModelRequest = {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDescription[];
};

export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A complete call. `arguments` is the model's own text, which may be no JSON at all. */
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'finished'; readonly usage?: Usage }
  | { readonly type: 'failed'; readonly failure: Failure };

export interface Model {
  readonly id: string;
  readonly label: string;
  /** In few words, for people: where it runs, what it is. */
  readonly detail: string;
  /** Tokens it can read. */
  readonly contextWindow: number;
  /** Never throws; ends with `finished` or `failed`, or with nothing once the signal is aborted. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

export interface ToolContext {
  readonly signal: AbortSignal;
  readonly workspace: Workspace;
  /** Shows output on the card while the tool runs; the model gets only the result. */
  progress(text: string): void;
}

export interface ToolOutcome {
  readonly content: string;
  readonly isError: boolean;
  /** Files whose bytes the model is shown by this result. */
  readonly seen?: readonly { readonly file: FilePath; readonly bytes: Uint8Array }[];
}

/** Arguments arrive parsed by `parse`. Expected failures are outcomes with `isError`; a throw is a bug. */
export interface Tool<Arguments = unknown> {
  readonly description: ToolDescription;
  readonly effect: Effect;
  /** Names of `tool.*` notifications that it can cause. */
  readonly emits: readonly string[];
  parse(value: unknown): Result<Arguments>;
  run(args: Arguments, context: ToolContext): Promise<ToolOutcome>;
}

export interface ApprovalRequest {
  readonly conversation: string;
  readonly call: {
    readonly id: string;
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  };
}

export interface ApprovalAnswer {
  readonly action: 'approve' | 'reject' | 'modify';
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  /** Who answered: `user`, `plugin:<name>`. Never a notification. */
  readonly by: string;
}

/** What is drawn while it happens and is not (yet) in the log. */
export type Partial =
  | { readonly type: 'answer_started'; readonly id: string }
  | { readonly type: 'answer_text'; readonly id: string; readonly field: 'text' | 'reasoning'; readonly text: string }
  /** The complete event follows, or nothing if nothing came. */
  | { readonly type: 'answer_ended'; readonly id: string }
  | { readonly type: 'tool_started'; readonly call: string }
  | { readonly type: 'tool_output'; readonly call: string; readonly text: string };

/** Something through which a person, or a program in their place, follows and answers. */
export interface Frontend {
  render(conversation: string, partial: Partial): void;
  /** Resolves with the first answer; rejects only when the signal is aborted. */
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
}

export interface SeenFile {
  readonly path: string;
  /** What each live conversation that has seen the file was shown last, and what it was told of since. */
  readonly by: readonly ({ readonly conversation: string } & SeenState)[];
}

/** Which files are worth watching, and against what a change is measured. */
export interface SeenFiles {
  all(): readonly SeenFile[];
  get(path: string): SeenFile | undefined;
  readonly onDidChange: Event<void>;
}

export interface Publisher {
  /** `to` narrows it to one conversation, for facts that differ between listeners. Resolves once queued on disk. */
  publish(draft: NotificationDraft, to?: string): Promise<void>;
  /** Takes back what is still pending of this kind and subject. Resolves to whether anything was. */
  withdraw(kind: NotificationDraft['kind'], subject: string, reason: string, to?: string): Promise<boolean>;
}

/** Watches one source. `start` throws only on a bug; what goes wrong later is given to the log. */
export interface Producer {
  readonly name: string;
  start(publisher: Publisher, seen: SeenFiles): Disposable;
}

/** Everything that is shared by all conversations of a window. */
export interface Ports {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly store: Store;
  readonly snapshots: Snapshots;
  readonly workspace: Workspace;
  readonly frontend: Frontend;
  readonly tools: readonly Tool[];
  readonly producers: readonly Producer[];
  settings(): Settings;
  /** The model that answers now. */
  model(): Model;
}
