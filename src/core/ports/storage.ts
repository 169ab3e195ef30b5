// What the core needs of a disk: logs, their owner's lock, bytes by hash. Implemented in storage/.
import { type Event } from '../../base/emitter.ts';
import { type Failure, type Result } from '../../base/errors.ts';
import { type EntryKind, type LogEvent } from '../../protocol/event.ts';
import { type FilePath } from './workspace.ts';

/** One conversation's log on disk, as its owner writes it. */
export interface EventFile {
  /**
   * Writes one event after all earlier ones; resolves once it would survive a power loss, rejects with a FailureError.
   * Throws at once, and writes nothing, if the event has no line.
   */
  append(event: LogEvent): Promise<void>;
  /** After a failed append: removes a partial write and reads what is left. Rejects while the disk refuses. */
  repair(): Promise<ReadLog>;
  /** Records the title for lists, and whose subagent it is. It can always be recomputed, so nobody waits for it. */
  titled?(title: string, subagent?: SubagentOf): void;
  close(): Promise<void>;
}

export interface ReadLog {
  /** Each is parsed when it is reached and not kept: a long log is folded without ever being in memory as a whole. */
  readonly events: Iterable<LogEvent>;
  readonly nextSeq: number;
  /** What was damaged, and where the damaged bytes are kept. Complete once the events were read through. */
  readonly damage: readonly Failure[];
  /** Whole lines behind the last event were damaged and cut off: they may have been acknowledged. */
  readonly endLost?: true;
}

export interface OpenedLog extends ReadLog {
  readonly file: EventFile;
}

/** A log that another window writes. */
export interface FollowedLog extends ReadLog {
  /** What was added. `whole`: everything known before is replaced, because the owner removed bytes. */
  readonly onDidGrow: Event<ReadLog & { readonly whole: boolean }>;
  close(): Promise<void>;
}

/** The conversation that started a subagent, and the name that it gave it. */
export interface SubagentOf {
  readonly parent: string;
  readonly name: string;
}

export interface ConversationSummary {
  readonly id: string;
  /** Empty: nobody has written in it yet. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly lastActivity: number;
  /** Absent: it is not a subagent. */
  readonly subagent?: SubagentOf;
  /** Why it cannot be read. It can still be opened, which gives details, or deleted. */
  readonly problem?: string;
}

/** The end of a log. */
export interface LogEnd {
  readonly lastSeq: number;
  /** The conversation's key; empty if its first event is missing. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly lastActivity: number;
}

/** All conversations of one workspace, wherever they are kept. */
export interface Store {
  /** For its owner only, which holds its lock. */
  open(conversation: string): Promise<Result<OpenedLog>>;
  follow(conversation: string): Promise<Result<FollowedLog>>;
  /** Reads everything in it, without owning or following it. */
  read(conversation: string): Promise<Result<ReadLog & { readonly events: readonly LogEvent[] }>>;
  /** As `read`, from the event after this number; they are parsed when they are reached. */
  scan(conversation: string, after: number): Promise<Result<ReadLog>>;
  /** Where its log ends now, read from the file's ends only. Fails if there is no such conversation. */
  end(conversation: string): Promise<Result<LogEnd>>;
  /** The length of every log in bytes, by conversation. */
  sizes(): Promise<Result<ReadonlyMap<string, number>>>;
  /** Writes a new conversation whole. */
  create(conversation: string, events: readonly LogEvent[]): Promise<Result<void>>;
  /** The caller holds its lock, and frees it afterwards. */
  remove(conversation: string): Promise<Result<void>>;
  /** The one written to last first. */
  list(): Promise<Result<readonly ConversationSummary[]>>;
}

/** The owner of a conversation, for people. */
export interface Owner {
  readonly pid: number;
  /** What the window shows, such as its folder's name. */
  readonly window: string;
  /** RFC 3339. */
  readonly since: string;
}

export interface HeldLock {
  /** The former owner released it when asked; false: it was free, or its owner had died. */
  readonly handedOver: boolean;
  /** Another window said *Continue here*. Fires at once if it did so before anybody listened. */
  readonly onDidRequest: Event<void>;
  /** Another window owns it although this one never released it: its lock files were removed. Nothing may be written. */
  readonly onDidLose: Event<void>;
  /** After the log is closed. */
  release(): Promise<void>;
}

/** One owner for each conversation, over all windows and processes; freed by the kernel when the owner dies. */
export interface Lock {
  /** Undefined if another has it. */
  acquire(conversation: string): Promise<HeldLock | undefined>;
  /** Who has it, as far as the side file says. */
  owner(conversation: string): Promise<Owner | undefined>;
  /** Asks the owner for it and waits until it is here. Rejects only when the signal is aborted. */
  request(conversation: string, signal: AbortSignal): Promise<HeldLock>;
}

/** Which conversations people look at, over all windows and processes. */
export interface Views {
  /** What this window shows from now on. Returns at once. */
  show(conversation: string | undefined): void;
  /** The user writes to the shown conversation in this window. */
  typed(): void;
  /** Whether a window shows it, this one included. */
  isShown(conversation: string): Promise<boolean>;
  /** Whether the user writes to it in another window at the moment. */
  isTypedElsewhere(conversation: string): Promise<boolean>;
}

/** Bytes by their hash: what the model last saw of a file. */
export interface Snapshots {
  /** Resolves once the bytes are on disk. */
  put(bytes: Uint8Array): Promise<string>;
  get(hash: string): Promise<Uint8Array | undefined>;
  hash(bytes: Uint8Array): string;
}

/** Bytes that a checkpoint has. */
export interface CheckpointBytes {
  readonly key: string;
  readonly size: number;
  /** Absent: of a plain file. */
  readonly kind?: EntryKind;
}

/** What became of a file between two checkpoints; absent: there was no such file. */
export interface CheckpointDifference {
  readonly file: FilePath;
  readonly before?: CheckpointBytes;
  readonly after?: CheckpointBytes;
}

interface Checkpoint {
  /** Equal states have equal names. */
  readonly name: string;
  /** Files that are not in it because they are too large or cannot be read. */
  readonly leftOut: readonly string[];
}

/** The files of whole workspaces, by content; what is on the machine's disk only. */
export interface Checkpoints {
  /**
   * `also` are files that are captured although they are ignored. Without `keep` it serves one comparison and is soon
   * deleted. Fails with a readable reason; rejects only when the signal is aborted.
   */
  take(options: {
    readonly folders: readonly FilePath[];
    readonly also: readonly FilePath[];
    readonly keep: boolean;
    readonly signal: AbortSignal;
  }): Promise<Result<Checkpoint>>;
  /** Only files and links; what is left out of one of them is not in it. Fails if one of them is gone. */
  compare(before: string, after: string, signal: AbortSignal): Promise<Result<readonly CheckpointDifference[]>>;
  /** When each was changed last, milliseconds since 1970, by path; without those of which this machine's clock says nothing. */
  changedAt(files: readonly FilePath[]): Promise<ReadonlyMap<string, number>>;
  read(bytes: readonly CheckpointBytes[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>;
}
