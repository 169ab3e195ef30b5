// What core needs from outside. Every port is implemented in a layer above and joined in vscode/compose.
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type Failure, type Result } from '../../base/errors.ts';
import { type SentRequest } from '../../protocol/client/sentRequest.ts';
import {
  type AnsweringProgram,
  type Attachment,
  type ShownHandle,
  type Usage,
  type WireOrigin,
} from '../../protocol/event.ts';
import { type ConversationChoice } from '../../protocol/page/controlsView.ts';
import { type FormField } from '../../protocol/page/form.ts';
import { type FileFreshness } from '../../protocol/page/freshnessView.ts';
import { type LinePosition } from '../../protocol/lines/lineWatch.ts';
import { type Notification, type NotificationDraft } from '../../protocol/notification.ts';
import { type AlternativeModel } from '../../protocol/page/windowView.ts';
import { type SettingLimits } from '../../protocol/settingRules.ts';
import { type Effort, type Settings } from '../../protocol/settings.ts';
import { type Effect, type ToolDescription } from '../../protocol/tool.ts';
import { type AlwaysAnswer, type ApprovalView } from '../../protocol/transcript.ts';
import { type ChangedFile, type SeenState, type SeenView, type ShownFile } from './fileViews.ts';
import { type AgentHub } from './agentHub.ts';
import { type Hooks } from './hooks.ts';
import { type ConversationHandles } from './handles.ts';
import { type EventsChange, type EventSubscriptions, type TouchedServer, type WantedEvents } from './mcp.ts';
import { type LineWatch, type WantedLines } from './producers.ts';
import { type ModelMessage, type Prices } from './modelMessages.ts';
import { type NotificationRecord } from './notificationRecord.ts';
import { type ReportedProblems } from './problems.ts';
import { type ObservedProcess, type ProcessObserver } from './processes.ts';
import { type DeliveryPoint, type ProducerHost, type Sample } from './producers.ts';
import { type ShownMedia } from './shownMedia.ts';
import { type Checkpoints, type Lock, type Permissions, type Snapshots, type Store } from './storage.ts';
import { type InspectedTask } from './tasks.ts';
import { type ToolTraits } from './toolTraits.ts';
import { type UserFiles } from './userFiles.ts';
import { type Buffers, type FilePath, type Workspace } from './workspace.ts';

export type { Clock } from '../../base/clock.ts';

/** The output channel, for people who diagnose a problem. Never shown to the model or in the chat. */
export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string, error?: unknown): void;
}

export interface Ids {
  /** Each call returns a greater one. */
  ulid(): string;
  /** At least 64 random bits, safe inside an XML attribute. */
  key(): string;
}

export type ModelRequest = {
  /** The conversation's id: endpoints that route by a cache key get it. Absent for a call outside a conversation. */
  readonly conversation?: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** The same tools in the same order for the whole conversation, because endpoints cache them. */
  readonly tools: readonly ToolDescription[];
  /** Tools that came later, in their order; a message names those that came with it (`ModelMessage.found`). */
  readonly found?: readonly ToolDescription[];
  /** The only tools that may be called now; absent: all. `none`: the answer must be text. */
  readonly allowed?: readonly string[] | 'none';
  /** Absent: as the model's options say. */
  readonly effort?: Effort;
  /** JSON Schema of the wanted answer; a model that does not support schemas ignores it. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The bytes of an image that a message names; undefined if they are gone. */
  image?(hash: string): Promise<Uint8Array | undefined>;
  /** Called before the request is sent, each time in another form. */
  sending?(printed: Omit<SentRequest, 'through'>): void;
};

export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A complete call. `arguments` is the model's own text, which may not be valid JSON. */
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: string }
  /** More of a call that is still being streamed; `index` distinguishes the calls of one answer. Only for rendering. */
  | { readonly type: 'writing_call'; readonly index: number; readonly name: string; readonly text: string }
  /** A sign of life from the endpoint, without content. */
  | { readonly type: 'alive' }
  /** `truncated`: the answer reached its length limit. */
  | {
      readonly type: 'finished';
      readonly usage?: Usage;
      readonly truncated?: boolean;
      /** What the API returned, to be sent back to it. Absent if it is incomplete, or if the API has nothing to resend. */
      readonly origin?: WireOrigin;
    }
  /** `retry`: the same request may succeed later; the endpoint may have said when. */
  | { readonly type: 'failed'; readonly failure: Failure; readonly retry?: { readonly afterMilliseconds?: number } };

/** The failure of a request that is longer than the model can read. */
export const CONTEXT_OVERFLOW = 'context_overflow';

export interface Model {
  readonly id: string;
  readonly label: string;
  /** A short description for people: where it runs, what it is. */
  readonly detail: string;
  /** The number of tokens it can read. */
  readonly contextWindow: number;
  readonly prices?: Prices;
  /** The levels of reasoning that it has, from the least to the most. Absent: none, or not known. */
  readonly efforts?: readonly Effort[] | undefined;
  /** It is verified to heed system or developer messages inside a conversation, so notifications are sent as these. */
  readonly takesHostMessages?: true;
  /** Absent: not known. */
  readonly takesImages?: boolean;
  /** A cheap model of the same provider, for titles. Absent: there is none. */
  small?(): Model | undefined;
  /** It follows rules and cannot write a title or a summary. */
  readonly ruleBased?: true;
  /** False: only the user's own requests may call it, until the user consents to more. Absent: always true. */
  mayRunUnasked?(): boolean;
  /** Never throws; ends with `finished` or `failed`, or with nothing once the signal is aborted. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

export interface ToolContext {
  readonly conversation: string;
  readonly signal: AbortSignal;
  /** Takes a snapshot of bytes before it overwrites them. */
  readonly workspace: Workspace;
  /** Whether the model may see a file's text only with approval: `.earshotignore`, secrets. `path` as in FilePath. */
  hides(path: string): boolean;
  /** Undefined: the conversation has not seen the file. */
  seen(file: FilePath): Promise<SeenView | undefined>;
  /** Shows output on the card while the tool runs; the model gets only the result. */
  progress(text: string): void;
  /** Asks the user a question and waits without a time limit. Undefined: the turn was stopped. */
  ask(question: Question): Promise<InquiryAnswer['answer'] | undefined>;
  /** The call's own id. */
  readonly call: string;
  /** The conversation's commands. */
  readonly handles: ConversationHandles;
  /** Whether this fingerprint is the one that was approved; if not, approval is requested again after the run. */
  isApproved(fingerprint: string): boolean;
  /** Announces a process that the call has started: changes by it and its children are attributed to the call. */
  observe(process: ObservedProcess): void;
  /** Resolves with a description as soon as something urgent is queued; a tool that waits then returns. */
  interruption(signal: AbortSignal): Promise<string>;
  /** The globs that the conversation watches. */
  readonly watches: ReadonlySet<string>;
  /** The lines that the conversation waits for, by the scope of their source. */
  readonly lines: ReadonlyMap<string, LineWatch>;
  /** Waits for lines of a source from this position on; `wake`: they wake the model, which the user has approved. */
  watchLines(target: string, lines: WantedLines, position: LinePosition, wake?: boolean): Promise<void>;
  /** The events of MCP servers that the conversation subscribed to. */
  readonly events: EventSubscriptions;
  /** Resolves to the subscription's name. `wake`: its events wake the model, which the user has approved. */
  subscribeEvents(wanted: WantedEvents, wake: boolean): Promise<string>;
  changeEvents(change: EventsChange): Promise<void>;
  /** The message of a notification with all that came with it, such as the whole payloads of events. */
  wholeMessage(notification: Notification): Promise<string>;
  /** All notifications of the conversation, delivered or not, oldest first, read from its log. */
  notifications(): Promise<Result<readonly NotificationRecord[]>>;
  /** The files that the conversation knows, compared with their present state. */
  freshness(): Promise<readonly FileFreshness[]>;
}

export interface ToolOutcome {
  readonly content: string;
  readonly isError: boolean;
  /** Says to people what went wrong; `content` says it to the model. */
  readonly failure?: Failure['code'];
  /** Files whose bytes the model is shown by this result. */
  readonly seen?: readonly ShownFile[];
  /** Files that the call changed: their bytes before and after; absent: there was no such file. */
  readonly changes?: readonly ChangedFile[];
  /** Files that others changed while the call ran, or may have changed. */
  readonly meanwhile?: readonly ChangedFile[];
  /** The handle states that the result shows: they are not reported again. */
  readonly handles?: readonly ShownHandle[];
  /** Names of tools that the conversation is offered from now on. */
  readonly tools?: readonly string[];
  /** Resources of MCP servers that the result shows, as `resourceName` names them: their changes are reported. */
  readonly resources?: readonly string[];
  readonly media?: readonly ShownMedia[];
}

export interface Touched {
  readonly paths?: readonly string[];
  /** A shell's command line. */
  readonly command?: string;
  /** Text for the input of a running command, which may execute it. */
  readonly input?: string;
  /** The name of the workspace folder that the command runs in; absent: the first one. */
  readonly folder?: string | undefined;
  /** An address that the call requests. */
  readonly url?: string;
  /** Approval covers only this one call. */
  readonly onlyOnce?: true;
  /** The name of a task of the editor. */
  readonly task?: string;
  /** A tool of an MCP server. */
  readonly server?: TouchedServer;
  /** The call lets something wake the model later without the user: how often and until when, for people. */
  readonly wakes?: string;
  /** What the approval is for, for people who do not see the arguments. */
  readonly note?: string;
}

/** Arguments arrive parsed by `parse`. Expected failures are outcomes with `isError`; a throw is a bug. */
export interface Tool<Arguments = unknown> {
  readonly description: ToolDescription;
  /** The strongest effect that any call can have. */
  readonly effect: Effect;
  /** It only asks the user: it needs no approval, and an unanswered call continues after a restart. */
  readonly inquires?: true;
  /**
   * It changes only files, and only through `Workspace.apply`, so it can run for a preview without applying anything.
   */
  readonly previewed?: true;
  /** The effect of this call, if calls of the tool differ in effect. */
  effectFor?(args: Arguments): Effect;
  /** What core must know about it besides how to run it. Absent: nothing. */
  readonly traits?: ToolTraits;
  /** Names of `tool.*` notifications that it can cause. */
  readonly emits: readonly string[];
  parse(value: unknown): Result<Arguments>;
  /** What a call would touch, as the model wrote it; approvals are decided by it. */
  touches?(args: Arguments): Touched;
  /** The task that a call would run now; an approval is for exactly that. Undefined: it cannot be found out. */
  inspect?(args: Arguments): Promise<InspectedTask | undefined>;
  /** Why a call cannot succeed; checked before approval is requested. */
  whyNot?(
    args: Arguments,
    context: Pick<ToolContext, 'conversation' | 'handles'>,
  ): Failure | undefined | Promise<Failure | undefined>;
  run(args: Arguments, context: ToolContext): Promise<ToolOutcome>;
}

export interface ApprovalRequest extends ApprovalView {
  readonly conversation: string;
  readonly call: { readonly id: string; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
}

/** The `by` of a plugin's answer begins with this. */
export const PLUGIN_PREFIX = 'plugin:';
/** The `by` of the automatic answer that is given when nobody answers in time. */
export const TIMED_OUT = 'timeout';

interface Answer {
  /** Who answered: `user`, `plugin:<name>`, `timeout`. Never a notification. */
  readonly by: string;
  readonly program?: AnsweringProgram;
}

export interface ApprovalAnswer extends Answer {
  readonly action: 'approve' | 'reject' | 'modify';
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly reason?: string | undefined;
  /** Similar calls, or all calls of the tool's server, need no approval from now on. Only with `approve`. */
  readonly always?: AlwaysAnswer | undefined;
}

export interface Question {
  readonly text: string;
  /** The choices; absent: the user may answer with any text. */
  readonly options?: readonly string[];
  /** Any number of the options may be chosen. */
  readonly several?: boolean;
  /** A form to fill in; `protocol/page/form.ts` defines the answer's format. Excludes `options`. */
  readonly fields?: readonly FormField[];
}

export interface InquiryRequest extends Question {
  readonly conversation: string;
  readonly id: string;
  /** The tool call that asks. */
  readonly call?: string;
  /** Why the last answer was not accepted. */
  readonly problem?: string;
}

export interface InquiryAnswer extends Answer {
  /** A list where several may be chosen. Text other than the options is allowed; empty: no answer is given. */
  readonly answer: string | readonly string[];
}

/** What front ends render while it happens, before or instead of an event in the log. */
export type PartialAnswer =
  | { readonly type: 'answer_started'; readonly id: string }
  | { readonly type: 'answer_text'; readonly id: string; readonly field: 'text' | 'reasoning'; readonly text: string }
  /** The complete event follows, or nothing if the answer was empty. */
  | { readonly type: 'answer_ended'; readonly id: string }
  /** The request failed and is sent again after a delay; `retrying_ended` when it is. */
  | { readonly type: 'retrying'; readonly id: string; readonly seconds: number; readonly failure: Failure }
  | { readonly type: 'retrying_ended'; readonly id: string }
  /** A call of the answer `answer` while the model writes it; it disappears with `answer_ended`. */
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
  readonly typed?: string;
  readonly at: string;
  readonly attachments?: readonly Attachment[];
}

/** Asks the user, through every front end that shows the conversation. */
export interface UserRequests {
  /** `approve` and `ask` resolve with the first answer; they reject only when the signal is aborted. */
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** An open approval has changed. Ignored if it is no longer open. */
  approvalChanged(request: ApprovalRequest): void;
  ask(request: InquiryRequest, signal: AbortSignal): Promise<InquiryAnswer>;
  countOf(conversation: string): number;
  /** Fires when one was `opened`, `changed` or `closed`. */
  readonly onDidChange: Event<{ readonly type: string; readonly open: { readonly conversation: string } }>;
}

/** Shows a turn to a person, or to a program in their place. */
export interface Frontend {
  readonly requests: UserRequests;
  render(conversation: string, partial: PartialAnswer): void;
  /** Queued messages that no request will carry. Resolves to whether the front end has stored them durably. */
  returnMessages(conversation: string, texts: readonly QueuedMessage[]): Promise<boolean>;
}

export interface SeenFile {
  readonly path: string;
  /** For each live conversation that has seen the file: what it was shown last, and what was announced since. */
  readonly by: readonly ({ readonly conversation: string } & SeenState)[];
}

/** The files to watch, and the states that changes are compared with. */
export interface SeenFiles {
  all(): readonly SeenFile[];
  get(path: string): SeenFile | undefined;
  readonly onDidChange: Event<void>;
  /** The same with files of which only lines were seen that a search showed; absent: there are none. */
  readonly withSearched?: SeenFiles;
}

export interface Publisher {
  /**
   * `to` restricts it to one conversation, for facts that differ between subscribers; `sender` is the conversation that
   * caused it and is never notified. Resolves once queued on disk.
   */
  publish(draft: NotificationDraft, to?: string, sender?: string): Promise<unknown>;
  /** Withdraws the pending notifications of this kind and subject. Resolves to whether there were any. */
  withdraw(kind: NotificationDraft['kind'], subject: string, reason: string, to?: string): Promise<boolean>;
}

/**
 * Watches one source. Runs while `earshot.notifications.producers` has it on. An error that it cannot continue
 * after, thrown by `start` or given to `broke`, stops it and restarts it later; a single failed check is only logged.
 */
export interface Producer {
  readonly name: string;
  start(publisher: Publisher, seen: SeenFiles, host: ProducerHost): Disposable;
  /** For state that is compared at delivery points instead of being watched: what there is to report now. */
  sample?(point: DeliveryPoint): readonly Sample[] | Promise<readonly Sample[]>;
}

/** Everything that is shared by all conversations of a window. */
export interface Surroundings {
  readonly system: string;
  readonly branch?: string | undefined;
}

interface OtherModels {
  /** Those that a model may choose for a subagent. */
  readonly names: readonly string[];
  /** Knows every configured model by its reference. */
  get(reference: string): Model | undefined;
  /** Those whose price is known, favourites first, without the one with this reference. Absent: none. */
  alternatives?(reference: string): readonly AlternativeModel[];
}

export interface Ports {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly store: Store;
  readonly lock: Lock;
  readonly snapshots: Snapshots;
  /** Absent: nothing is captured, so files that a command overwrites cannot be restored. */
  readonly checkpoints?: Checkpoints;
  readonly workspace: Workspace;
  readonly buffers?: Buffers;
  readonly frontend: Frontend;
  /** The tools at the start; others are registered later. */
  readonly tools: readonly Tool[];
  /** Resolves once the tools that are still being added are registered, after a few seconds at the latest. */
  toolsReady(): Promise<void>;
  readonly producers: readonly Producer[];
  readonly processes: ProcessObserver;
  readonly permissions: Permissions;
  readonly userFiles: UserFiles;
  /** Instructions that do not come from files: what MCP servers say about their tools. */
  moreInstructions(): readonly { readonly name: string; readonly text: string }[];
  /** Absent: no diagnostics are reported. */
  readonly problems?: ReportedProblems;
  readonly hooks: Hooks;
  /** Absent: conversations are not agents on a hub. */
  readonly hub?: AgentHub;
  /** Shows the user a notice in the chat; the model does not get it. Absent: it is only logged. */
  notice?(text: string): void;
  /** Files of the workspace, on disk or in a buffer, may have changed. Absent: not observed. */
  readonly onDidChangeFiles?: Event<void>;
  /** The program that runs command lines. */
  shell(): string;
  /** The operating system, and the branch that is checked out, for the system prompt. */
  surroundings(): Promise<Surroundings>;
  settings(): Settings;
  /** Absent: they never change. */
  readonly onDidChangeSettings?: Event<void>;
  /** What the workspace allows at most. Absent: no limits. */
  limits?(): SettingLimits;
  /** The model of conversations for which none was chosen. */
  model(): Model;
  /** What new conversations start with. Absent: nothing, so that the settings hold. */
  firstChoice?(): ConversationChoice;
  readonly models: OtherModels;
}
