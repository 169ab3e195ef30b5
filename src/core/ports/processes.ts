// Processes as the core needs them: commands that outlive the window that started them. Implemented in node/.
import { type CommandEnd } from '../../base/commandEnd.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Event } from '../../base/emitter.ts';
import { type Result } from '../../base/errors.ts';

interface CommandToRun {
  readonly conversation: string;
  /** The id of the call, unique in its conversation. */
  readonly run: string;
  readonly command: string;
  /** The folder it runs in: an absolute path in the operating system's format. */
  readonly folder: string;
  /** Its input stays open for later writes. */
  readonly input: boolean;
}

interface CommandStatus {
  /** RFC 3339. */
  readonly startedAt: string;
  readonly inputOpen: boolean;
  /** The number of bytes that it has printed so far. */
  readonly size: number;
  /** The offset of the first of these bytes that is still kept. */
  readonly kept: number;
  readonly end?: CommandEnd;
  /** Its supervisor is gone without a record of how it ended. */
  readonly lost?: true;
  /** Why its state is not known at present; it is neither ended nor lost. */
  readonly unknown?: string;
  /** What it waits for and the model cannot provide, such as `the user’s approval`. */
  readonly waitsFor?: string;
}

/** A command under its supervisor. Disposing of it releases it: it keeps running for a while. */
export interface SupervisedCommand extends Disposable {
  readonly command: string;
  /** The supervisor's process id. */
  readonly pid: number;
  readonly startTime: string;
  /** Set if it is a task of an MCP server: the reference to find it again. */
  readonly task?: { readonly server: string; readonly reference: string };
  /** Set if it is a subagent: its conversation. */
  readonly agent?: { readonly conversation: string };
  /** A subagent's last answer; empty: it has not given one. */
  readonly answer?: string;
  /** The command's own process id; undefined if it could not be started. */
  readonly shell: number | undefined;
  /** Identifies the processes that the command started, even if their parents have ended; see ObservedProcess. */
  readonly mark?: string;
  readonly status: CommandStatus;
  readonly onDidChange: Event<void>;
  /** Bytes of its output; the returned `from` is later than requested if earlier bytes are no longer kept. */
  read(from: number, limit: number): Promise<{ readonly from: number; readonly bytes: Uint8Array }>;
  /** `last` closes its input after the text. */
  write(text: string, last?: boolean): Promise<Result<void>>;
  /** Asks the whole process tree to end, then kills it. `onDidChange` fires when it has ended. */
  stop(reason: string): void;
  /** Interrupts it as Ctrl+C would. */
  interrupt(): void;
}

export interface Supervision {
  start(command: CommandToRun): Promise<Result<SupervisedCommand>>;
  /** Finds a command that this window started, also before a reload; undefined if nothing is left of it. */
  reattach(conversation: string, run: string): Promise<SupervisedCommand | undefined>;
  /** All runs of the conversation that still have files. */
  runs(conversation: string): Promise<readonly string[]>;
  /** Whether, according to its files, a command of the conversation is still running. */
  hasUnfinished(conversation: string): Promise<boolean>;
  /** Forgets a run that has ended, with its output. */
  remove(conversation: string, run: string): Promise<void>;
}

/** Tasks that run at MCP servers. */
export interface RemoteTasks {
  /** Undefined: its server is no longer configured. */
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

/** Disposing of it without `begin` frees its place for another subagent. */
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

/** A command of Earshot that is observed together with all processes it starts. */
export interface ObservedProcess {
  /** Undefined: it could not be started. */
  readonly pid: number | undefined;
  /** A value in the environment of all processes that it starts; undefined: there is none. */
  readonly mark?: string | undefined;
  /** When it began, milliseconds since 1970. */
  readonly since: number;
  /** When it ended with everything it had started; undefined while it runs. */
  ended(): number | undefined;
}

/**
 * Finds out when the processes of a conversation's commands ran: a process that was not running cannot have written a
 * file.
 */
export interface ProcessWatch extends Disposable {
  /** False: nothing is known of what ran on this system. */
  readonly isObserving: boolean;
  add(process: ObservedProcess): void;
  /** Resolves once it is known what ran around this time in the past, which takes a moment at most. */
  settled(at: number): Promise<void>;
  /**
   * False only if it was observed that none of them, and nothing they had started, was on a processor around that time.
   */
  mayHaveRun(at: number): boolean;
  /** Returns those of the files that a process outside the trees holds open for writing now. */
  heldByOthers(absolute: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface ProcessObserver {
  /** Observes until the result is disposed of. */
  watch(): ProcessWatch;
}
