// What the core needs of processes: commands that outlive the window which started them. Implemented in node/.
import { type CommandEnd } from '../../base/commandEnd.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type Result } from '../../base/errors.ts';

interface CommandToRun {
  readonly conversation: string;
  /** The id of the call, unique in its conversation. */
  readonly run: string;
  readonly command: string;
  /** Where it runs, as the machine says it. */
  readonly folder: string;
  /** Its input stays open for what is typed later. */
  readonly input: boolean;
}

interface CommandStatus {
  /** RFC 3339. */
  readonly startedAt: string;
  readonly inputOpen: boolean;
  /** Bytes that it ever printed. */
  readonly size: number;
  /** The first of them that is still there. */
  readonly kept: number;
  readonly end?: CommandEnd;
  /** Its supervisor is gone without a record of how it ended. */
  readonly lost?: true;
  /** Why its state is not known at present; it is neither ended nor lost. */
  readonly unknown?: string;
  /** What it waits for that the model cannot give it, such as `the user’s approval`. */
  readonly waitsFor?: string;
}

/** A command under its supervisor. Disposing of it releases it: it keeps running for a while. */
export interface SupervisedCommand extends Disposable {
  readonly command: string;
  /** The supervisor's. */
  readonly pid: number;
  readonly startTime: string;
  /** It is a task of an MCP server, which is found again by this reference; absent: a command. */
  readonly task?: { readonly server: string; readonly reference: string };
  /** It is a subagent with this conversation; absent: a command. */
  readonly agent?: { readonly conversation: string };
  /** A subagent's last answer; empty: it has not given one. */
  readonly answer?: string;
  /** The command's own; undefined if it could not be started. */
  readonly shell: number | undefined;
  readonly status: CommandStatus;
  readonly onDidChange: Event<void>;
  /** Bytes of its output; `from` is later than asked for where they are not kept any more. */
  read(from: number, limit: number): Promise<{ readonly from: number; readonly bytes: Uint8Array }>;
  /** `last` closes its input behind the text. */
  write(text: string, last?: boolean): Promise<Result<void>>;
  /** Asks the whole process tree to end, then kills it. `onDidChange` fires when it has ended. */
  stop(reason: string): void;
  /** As Ctrl+C would. */
  interrupt(): void;
}

export interface Supervision {
  start(command: CommandToRun): Promise<Result<SupervisedCommand>>;
  /** A command that was started before, by this window or before its reload; undefined if nothing is left of it. */
  reattach(conversation: string, run: string): Promise<SupervisedCommand | undefined>;
  /** Every run of the conversation of which something is left. */
  runs(conversation: string): Promise<readonly string[]>;
  /** Whether something of the conversation runs, as far as its files say. */
  hasUnfinished(conversation: string): Promise<boolean>;
  /** Forgets a run that has ended, with its output. */
  remove(conversation: string, run: string): Promise<void>;
}

/** Tasks that run at MCP servers. */
export interface RemoteTasks {
  /** Undefined: its server is not configured any more. */
  reattach(task: {
    readonly server: string;
    readonly reference: string;
    readonly tool: string;
    readonly startedAt: string;
  }): Promise<SupervisedCommand | undefined>;
}

/** Subagents of conversations. */
export interface AgentRuns {
  /** Undefined: nothing is left of its conversation. */
  reattach(agent: {
    readonly conversation: string;
    readonly parent: string;
    readonly startedAt: string;
  }): Promise<SupervisedCommand | undefined>;
}

export interface SubagentRequest {
  /** The conversation that starts it. */
  readonly parent: string;
  readonly task: string;
  readonly name: string;
  /** The only tools that it gets; absent: those of its parent. */
  readonly tools?: readonly string[] | undefined;
  /** Absent: the model of the window. */
  readonly model?: string | undefined;
}

/** Disposing of it without `begin` gives its place to another. */
export interface PreparedSubagent extends Disposable {
  readonly process: SupervisedCommand;
  /** Gives it its task. Afterwards it runs until its turn has ended. */
  begin(): Promise<void>;
}

export interface SubagentStarter {
  /** Why no subagent can be started like this; undefined: it can. */
  whyNot(request: SubagentRequest): string | undefined;
  /** Creates its conversation, which does nothing yet: its handle must be on disk first. */
  prepare(request: SubagentRequest): Promise<Result<PreparedSubagent>>;
}

/** A command of our own that is observed with everything it starts. */
export interface ObservedProcess {
  /** Undefined: it could not be started. */
  readonly pid: number | undefined;
  /** When it began, milliseconds since 1970. */
  readonly since: number;
  /** When it ended with everything it had started; undefined while it runs. */
  ended(): number | undefined;
}

/** Finds out when the processes of a conversation's commands ran: a process that did not run has written nothing. */
export interface ProcessWatch extends Disposable {
  add(process: ObservedProcess): void;
  /** Resolves once it is known what ran around this time, which is past; that takes a moment at most. */
  settled(at: number): Promise<void>;
  /** False only if it was observed that none of them, and nothing they had started, was on a processor around that time. */
  mayHaveRun(at: number): boolean;
  /** Those of the files, as the machine names them, that a process outside the trees holds open for writing now. */
  heldByOthers(absolute: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface ProcessObserver {
  /** Observes until it is disposed. */
  watch(): ProcessWatch;
}
