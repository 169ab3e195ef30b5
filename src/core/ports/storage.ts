// Storage as the core needs it: logs, their owner's lock, bytes by hash. Implemented in storage/.
import { type Event } from '../../base/emitter.ts';
import { type Failure, type Result } from '../../base/errors.ts';
import { type EntryKind, type LogEvent } from '../../protocol/event.ts';
import { type ListedChoice } from '../../protocol/page/controlsView.ts';
import { type FilePath } from './workspace.ts';

/** One conversation's log on disk, as its owner writes it. */
export interface EventFile {
  /**
   * Writes one event after all earlier ones. Resolves once it would survive a power loss; rejects with a FailureError.
   * Throws at once, and writes nothing, if the event cannot be written as one line.
   */
  append(event: LogEvent): Promise<void>;
  /** After a failed append: removes a partial write and reads what is left. Rejects while the disk refuses. */
  repair(): Promise<ReadLog>;
  /**
   * Records the title for lists and, if given, what else they show. All can be recomputed from the log, so nobody waits
   * for this.
   */
  titled?(title: string, facts?: ListedFacts): void;
  /** Absent: an answer that is being received is lost if the editor is killed. */
  readonly partial?: PartialAnswers;
  close(): Promise<void>;
}

/** What was shown of an answer, or a further part of it. `id` is that of its event. */
export interface PartialAnswer {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
}

/** Keeps the shown part of an answer until the answer is in the log. Failures are only logged. */
export interface PartialAnswers {
  /** Returns at once. Parts of another answer replace everything. */
  add(part: PartialAnswer): void;
  /** The answer whose parts were added last. */
  take(): Promise<PartialAnswer | undefined>;
  drop(): void;
}

export interface ReadLog {
  /**
   * Each event is parsed when the iteration reaches it and is not kept, so a long log is never in memory as a whole.
   */
  readonly events: Iterable<LogEvent>;
  readonly nextSeq: number;
  /** What was damaged, and where the damaged bytes are kept. Complete once all events were read. */
  readonly damage: readonly Failure[];
  /** Whole lines after the last event were damaged and cut off; they may have been acknowledged events. */
  readonly endLost?: true;
}

export interface OpenedLog extends ReadLog {
  readonly file: EventFile;
}

/** A log that another window writes. */
export interface FollowedLog extends ReadLog {
  readonly onDidGrow: Event<AddedEvents>;
  close(): Promise<void>;
}

export interface AddedEvents extends ReadLog {
  /** They replace everything that was read before, because bytes were removed; so does the first read. */
  readonly whole: boolean;
}

/** Reads a log several times, each time only what was added. */
export interface LogReader {
  /** One call at a time. */
  read(): Promise<Result<AddedEvents>>;
}

/** The conversation that started a subagent, and the name that it gave it. */
interface SubagentOf {
  readonly parent: string;
  readonly name: string;
}

/** What lists show of a conversation besides its title. */
export interface ListedFacts {
  /** Absent: it is not a subagent. */
  readonly subagent?: SubagentOf | undefined;
  /** The conversation of which it is a fork. */
  readonly forkedFrom?: string | undefined;
  /** How many files have changes that are not reviewed; absent: none. */
  readonly unreviewed?: number | undefined;
  /** What was chosen for it. */
  readonly choice?: ListedChoice | undefined;
}

export interface ConversationSummary extends ListedFacts {
  readonly id: string;
  /** Empty: nobody has written in it yet. */
  readonly title: string;
  /** Milliseconds since 1970. */
  readonly lastActivity: number;
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
  /** Reads the whole log, without owning or following it. */
  read(conversation: string): Promise<Result<ReadLog & { readonly events: readonly LogEvent[] }>>;
  /** As `read`, from the event after this number; events are parsed when the iteration reaches them. */
  scan(conversation: string, after: number): Promise<Result<ReadLog>>;
  reader(conversation: string): LogReader;
  /**
   * Where its log ends now; reads only the beginning and the end of the file. Fails if there is no such conversation.
   */
  end(conversation: string): Promise<Result<LogEnd>>;
  /** The length of every log in bytes, by conversation. */
  sizes(): Promise<Result<ReadonlyMap<string, number>>>;
  /** Writes a complete new conversation. */
  create(conversation: string, events: readonly LogEvent[]): Promise<Result<void>>;
  /** The caller must hold its lock and release it afterwards. */
  remove(conversation: string): Promise<Result<void>>;
  /** Sorted by last activity, newest first. */
  list(): Promise<Result<readonly ConversationSummary[]>>;
  /** The conversations with something due, so that a window finds them without reading logs. */
  readonly due: DueIndex;
}

export interface DueIndex {
  /** Resolves once it is on disk. */
  mark(conversation: string): Promise<void>;
  unmark(conversation: string): Promise<void>;
  list(): Promise<readonly string[]>;
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
  /** The user chose *Continue here* in another window. Fires at once if that happened before anybody listened. */
  readonly onDidRequest: Event<void>;
  /**
   * Another window owns the lock although this one never released it, because its files were removed. Write nothing
   * more.
   */
  readonly onDidLose: Event<void>;
  /** Call it only after the log is closed. */
  release(): Promise<void>;
}

/** One owner for each conversation, over all windows and processes; freed by the kernel when the owner dies. */
export interface Lock {
  /** Undefined if another window has it. */
  acquire(conversation: string): Promise<HeldLock | undefined>;
  /** The current owner, according to the side file. */
  owner(conversation: string): Promise<Owner | undefined>;
  /** Asks the owner for it and waits until this window has it. Rejects only when the signal is aborted. */
  request(conversation: string, signal: AbortSignal): Promise<HeldLock>;
}

/** Which conversations are shown to the user and typed into, over all windows and processes. */
export interface Views {
  /** The conversation that this window shows from now on. Returns at once. */
  show(conversation: string | undefined): void;
  /** Call when the user types into the shown conversation in this window. */
  typed(): void;
  /** Whether a window shows it, this one included. */
  isShown(conversation: string): Promise<boolean>;
  /** Whether the user is typing into it in another window. */
  isTypedElsewhere(conversation: string): Promise<boolean>;
}

/** Bytes by their hash: what the model last saw of a file. */
export interface Snapshots {
  /** Resolves once the bytes are on disk. */
  put(bytes: Uint8Array): Promise<string>;
  get(hash: string): Promise<Uint8Array | undefined>;
  hash(bytes: Uint8Array): string;
}

/** Bytes in a checkpoint. */
export interface CheckpointBytes {
  readonly key: string;
  readonly size: number;
  /** Absent: a plain file. */
  readonly kind?: EntryKind;
  /** Its permission bits; absent: not known, or a link. */
  readonly mode?: number;
}

/** The change of a file between two checkpoints; `before` or `after` is absent if there was no such file. */
export interface CheckpointDifference {
  readonly file: FilePath;
  readonly before?: CheckpointBytes;
  readonly after?: CheckpointBytes;
  /** The file came with a folder that was moved here, so it is older than its place. */
  readonly movedIn?: true;
}

export interface PlacedFile extends FilePath, Pick<CheckpointDifference, 'movedIn'> {}

interface Checkpoint {
  /** Equal states of the workspace have equal names. */
  readonly name: string;
  /** What is not in it: files that are too large or cannot be read, and folders (with a `/`) that cannot be captured. */
  readonly leftOut: readonly string[];
}

/** The files of whole workspaces, by content, as they are on disk; unsaved buffers are not included. */
export interface Checkpoints {
  /**
   * `also` lists files that are captured although they are ignored. Without `keep` the checkpoint serves one comparison
   * and is soon deleted. Fails with a readable reason; rejects only when the signal is aborted.
   */
  take(options: {
    readonly folders: readonly FilePath[];
    readonly also: readonly FilePath[];
    readonly keep: boolean;
    readonly signal: AbortSignal;
  }): Promise<Result<Checkpoint>>;
  /** Only files and links, without those that one of the checkpoints left out. Fails if a checkpoint is gone. */
  compare(before: string, after: string, signal: AbortSignal): Promise<Result<readonly CheckpointDifference[]>>;
  /** As in `take`, for an earlier checkpoint. */
  leftOut(name: string): Promise<readonly string[]>;
  /**
   * When each file was last changed, removed or moved to its place, in milliseconds since 1970, by path. Omits files whose time does not come from
   * this machine's clock.
   */
  changedAt(files: readonly PlacedFile[]): Promise<ReadonlyMap<string, number>>;
  read(bytes: readonly CheckpointBytes[], signal: AbortSignal): Promise<ReadonlyMap<string, Uint8Array>>;
}

/** A permanent approval: an answer of *Always*. */
export interface AlwaysRule {
  /** The calls that it covers, as the policy writes them. */
  readonly rule: string;
  /** The same for people. */
  readonly label: string;
  /** The only conversation that it holds in; absent: all conversations of the folder. */
  readonly conversation?: string;
  /** ISO 8601; absent: not known. */
  readonly since?: string;
}

/** The user's permanent approvals, stored outside the workspace. */
export interface Permissions {
  /** As of the last reading, oldest first. */
  readonly rules: readonly AlwaysRule[];
  readonly onDidChange: Event<void>;
  /** Reads the rules first, since another window may have revoked one. */
  has(rule: string, conversation: string): Promise<boolean>;
  /** Resolves once it is on disk. */
  add(rule: AlwaysRule): Promise<void>;
  /** Resolves once it is removed on disk. */
  remove(rule: AlwaysRule): Promise<void>;
}
