// What core needs from outside. Every port is implemented in a layer above and joined in vscode/compose.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type Failure, type Result } from '../../base/errors.ts';
import { type CallPreview } from '../../protocol/diffView.ts';
import { type Attachment, type ShownHandle, type Usage } from '../../protocol/event.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type Effect, type ToolDescription } from '../../protocol/tool.ts';
import { type ChangedFile, type SeenState, type SeenView, type ShownFile } from './fileViews.ts';
import { type ConversationHandles } from './handles.ts';
import { type ModelMessage } from './modelMessages.ts';
import { type NotificationRecord } from './notificationRecord.ts';
import { type ReportedProblems } from './problems.ts';
import { type ObservedProcess, type ProcessObserver } from './processes.ts';
import { type DeliveryPoint, type ProducerHost, type Sample } from './producers.ts';
import { type Checkpoints, type Lock, type Snapshots, type Store } from './storage.ts';
import { type ToolTraits } from './toolTraits.ts';
import { type Buffers, type FilePath, type Workspace } from './workspace.ts';

export type { Clock } from '../../base/clock.ts';

/** For people who look for a fault: the output channel. Never the model, never the chat. */
export interface Logger {
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

export type ModelRequest = {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDescription[];
  /** JSON Schema of the answer that is wanted; a model that cannot hold to it ignores it. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The bytes of an image that a message names; undefined if they are gone. */
  image?(hash: string): Promise<Uint8Array | undefined>;
};

export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A complete call. `arguments` is the model's own text, which may be no JSON at all. */
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: string }
  /** More of a call that is still being written; `index` tells those of one answer apart. Only for drawing. */
  | { readonly type: 'writing_call'; readonly index: number; readonly name: string; readonly text: string }
  /** The endpoint lives, but has nothing to show yet. */
  | { readonly type: 'alive' }
  /** `truncated`: it would have said more, but had reached its limit. */
  | { readonly type: 'finished'; readonly usage?: Usage; readonly truncated?: boolean }
  /** `retry`: the same request may succeed later; the endpoint may have said when. */
  | { readonly type: 'failed'; readonly failure: Failure; readonly retry?: { readonly afterMilliseconds?: number } };

/** The failure of a request that is longer than the model can read. */
export const CONTEXT_OVERFLOW = 'context_overflow';

/** In one currency, for a million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cached?: number | undefined;
}

export interface Model {
  readonly id: string;
  readonly label: string;
  /** In few words, for people: where it runs, what it is. */
  readonly detail: string;
  /** Tokens it can read. */
  readonly contextWindow: number;
  readonly prices?: Prices;
  /** It follows rules and cannot write a title or a summary. */
  readonly ruleBased?: true;
  /** False: it may be asked only on the user's own doing, as long as the user has not consented to more. Absent: always. */
  mayAskUnbidden?(): boolean;
  /** Never throws; ends with `finished` or `failed`, or with nothing once the signal is aborted. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

export interface ToolContext {
  readonly conversation: string;
  readonly signal: AbortSignal;
  /** Bytes that are overwritten through it are kept first. */
  readonly workspace: Workspace;
  /** Whether a file's text is kept from the model until somebody allows it: `.earshotignore`, secrets. `path` as in FilePath. */
  hides(path: string): boolean;
  /** Undefined: the conversation has seen nothing of it. */
  seen(file: FilePath): Promise<SeenView | undefined>;
  /** Shows output on the card while the tool runs; the model gets only the result. */
  progress(text: string): void;
  /** Puts a question to the user and waits, as long as it takes. Undefined: the turn was stopped. */
  ask(question: Question): Promise<InquiryAnswer['answer'] | undefined>;
  /** The call's own id. */
  readonly call: string;
  /** The conversation's commands; absent where none can be run. */
  readonly handles?: ConversationHandles;
  /** A process that the call has started: what it and its children write is the call's own doing. */
  observe(process: ObservedProcess): void;
  /** Resolves with what happened as soon as something is queued that should not wait; waiting tools then return. */
  news(signal: AbortSignal): Promise<string>;
  /** The globs that the conversation watches. */
  readonly watches: ReadonlySet<string>;
  /** All that the conversation was or will be told, oldest first, read from its log. */
  notifications(): Promise<Result<readonly NotificationRecord[]>>;
}

export interface ToolOutcome {
  readonly content: string;
  readonly isError: boolean;
  /** Files whose bytes the model is shown by this result. */
  readonly seen?: readonly ShownFile[];
  /** Files that the call changed: their bytes before and after; absent: there was no such file. */
  readonly changes?: readonly ChangedFile[];
  /** Files that others changed while the call ran, or may have changed. */
  readonly meanwhile?: readonly ChangedFile[];
  /** What the result shows of handles: it is not told again. */
  readonly handles?: readonly ShownHandle[];
}

export interface Touched {
  readonly paths?: readonly string[];
  /** A shell's command line. */
  readonly command?: string;
  /** An address on the network. */
  readonly url?: string;
  /** Consent to this call says nothing about the next one. */
  readonly onlyOnce?: true;
  /** The name of a task of the editor. */
  readonly task?: string;
}

/** Arguments arrive parsed by `parse`. Expected failures are outcomes with `isError`; a throw is a bug. */
export interface Tool<Arguments = unknown> {
  readonly description: ToolDescription;
  /** The most that any call does. */
  readonly effect: Effect;
  /** It only asks the user: it needs no approval, and a call whose answer is missing goes on after a restart. */
  readonly inquires?: true;
  /** All that it changes are files, and those only by `Workspace.apply`: it can be run for a preview, with nothing applied. */
  readonly previewed?: true;
  /** Where calls differ: what this one does. */
  effectFor?(args: Arguments): Effect;
  /** What core must know of it besides how to run it. Absent: nothing. */
  readonly traits?: ToolTraits;
  /** Names of `tool.*` notifications that it can cause. */
  readonly emits: readonly string[];
  parse(value: unknown): Result<Arguments>;
  /** What a call would touch, as the model wrote it: what approvals look at. */
  touches?(args: Arguments): Touched;
  /** Why a call cannot succeed, before anybody is asked for it. */
  whyNot?(args: Arguments, context: Pick<ToolContext, 'handles'>): string | undefined | Promise<string | undefined>;
  run(args: Arguments, context: ToolContext): Promise<ToolOutcome>;
}

export interface ApprovalRequest {
  readonly conversation: string;
  readonly call: {
    readonly id: string;
    readonly name: string;
    readonly arguments: Readonly<Record<string, unknown>>;
  };
  /** Why it is asked although the mode would let it pass. */
  readonly reason?: string;
  /** What *always* would allow from now on, for people; absent where it is not offered. */
  readonly always?: string;
  /** Why the last answer could not be taken. */
  readonly problem?: string;
  /** What it would do to files now; absent: it changes none, or that cannot be told. */
  readonly preview?: CallPreview;
}

export interface ApprovalAnswer {
  readonly action: 'approve' | 'reject' | 'modify';
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly reason?: string;
  /** Like calls need no answer from now on. Only with `approve`. */
  readonly always?: boolean;
  /** Who answered: `user`, `plugin:<name>`. Never a notification. */
  readonly by: string;
}

export interface Question {
  readonly text: string;
  /** Offered to choose from; absent: any text is wanted. */
  readonly options?: readonly string[];
  /** Any number of the options may be chosen. */
  readonly several?: boolean;
}

export interface InquiryRequest extends Question {
  readonly conversation: string;
  readonly id: string;
  /** The tool call that asks. */
  readonly call?: string;
  /** Why the last answer could not be taken. */
  readonly problem?: string;
}

export interface InquiryAnswer {
  /** A list where several may be chosen. Words beside the options are taken too; empty: no answer is given. */
  readonly answer: string | readonly string[];
  /** Who answered: `user`, `plugin:<name>`. Never a notification. */
  readonly by: string;
}

/** What is drawn while it happens and is not (yet) in the log. */
export type PartialAnswer =
  | { readonly type: 'answer_started'; readonly id: string }
  | { readonly type: 'answer_text'; readonly id: string; readonly field: 'text' | 'reasoning'; readonly text: string }
  /** The complete event follows, or nothing if nothing came. */
  | { readonly type: 'answer_ended'; readonly id: string }
  /** The request failed and is sent again in a while; `ended` when it is. */
  | { readonly type: 'retrying'; readonly id: string; readonly seconds: number; readonly failure: Failure }
  | { readonly type: 'retrying_ended'; readonly id: string }
  /** A call of the answer `answer` while it is written; gone with `answer_ended`. */
  | {
      readonly type: 'call_text';
      readonly answer: string;
      readonly index: number;
      readonly name: string;
      readonly text: string;
    }
  | { readonly type: 'tool_started'; readonly call: string }
  | { readonly type: 'tool_output'; readonly call: string; readonly text: string };

/** What the user wrote during a turn, until a request carries it. */
export interface QueuedMessage {
  readonly id: string;
  readonly content: string;
  readonly at: string;
  readonly attachments?: readonly Attachment[];
}

/** Something through which a person, or a program in their place, follows and answers. */
export interface Frontend {
  render(conversation: string, partial: PartialAnswer): void;
  /** Resolves with the first answer; rejects only when the signal is aborted. */
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** Something about an open approval is another by now. One that is not open any more is passed over. */
  approvalChanged(request: ApprovalRequest): void;
  /** The same for a question. */
  ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer>;
  /** The user's words that no request will carry. Resolves to whether they are kept there now, also over a crash. */
  giveBack(conversation: string, texts: readonly QueuedMessage[]): Promise<boolean>;
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
  /**
   * `to` narrows it to one conversation, for facts that differ between listeners; `sender` is the one that caused it and is
   * never told. Resolves once queued on disk.
   */
  publish(draft: NotificationDraft, to?: string, sender?: string): Promise<unknown>;
  /** Takes back what is still pending of this kind and subject. Resolves to whether anything was. */
  withdraw(kind: NotificationDraft['kind'], subject: string, reason: string, to?: string): Promise<boolean>;
}

/** What a person allowed once and for all, kept outside the workspace. */
export interface Permissions {
  has(rule: string): boolean;
  /** Resolves once it is on disk. */
  add(rule: string): Promise<void>;
}

/** The user's own files for every workspace: instructions and prompts. Undefined or empty if there are none. */
export interface UserFiles {
  read(name: string): Promise<string | undefined>;
  list(folder: string): Promise<readonly string[]>;
}

/**
 * Watches one source. Runs while `earshot.notifications.producers` has it on. What it cannot go on from, thrown by
 * `start` or given to `broke`, stops it and starts it again later; a single failed look belongs to the log.
 */
export interface Producer {
  readonly name: string;
  start(publisher: Publisher, seen: SeenFiles, host: ProducerHost): Disposable;
  /** State that is compared at a delivery point instead of being watched: what there is to tell of it now. */
  sample?(point: DeliveryPoint): readonly Sample[] | Promise<readonly Sample[]>;
}

/** Everything that is shared by all conversations of a window. */
export interface Ports {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly store: Store;
  /** Absent: this window is the only one. */
  readonly lock?: Lock;
  readonly snapshots: Snapshots;
  /** Absent: nothing is captured, so that what a command overwrites cannot be brought back. */
  readonly checkpoints?: Checkpoints;
  readonly workspace: Workspace;
  readonly buffers?: Buffers;
  readonly frontend: Frontend;
  /** Those that are there from the beginning. */
  readonly tools: readonly Tool[];
  readonly producers: readonly Producer[];
  /** Absent: it is not known when the processes of commands run. */
  readonly processes?: ProcessObserver;
  /** Absent: nothing is remembered. */
  readonly permissions?: Permissions;
  readonly userFiles?: UserFiles;
  /** Absent: nobody knows of problems. */
  readonly problems?: ReportedProblems;
  /** Shows the user a sentence in the chat; the model is not told. Absent: only the log has it. */
  notice?(text: string): void;
  /** Files of the workspace, on disk or in a buffer, may have changed. Absent: nobody knows. */
  readonly onDidChangeFiles?: Event<void>;
  /** The program that runs command lines; absent: not known, so that no line is certain. */
  shell?(): string;
  settings(): Settings;
  /** Absent: they never change. */
  readonly onDidChangeSettings?: Event<void>;
  /** The model that answers now. */
  model(): Model;
}
