// The states of files that a conversation was shown, and the files that a call shows or changes.
import { type EntryKind, type SeenPart } from '../../protocol/event.ts';
import { type FilePath } from './workspace.ts';

/** The states of a file that a conversation has seen or was notified of, by hash. */
export interface SeenState {
  readonly hash: string;
  /** Only these lines of the bytes were shown; absent: all. */
  readonly part?: SeenPart;
  /** The newest state that a notification announced, pending or carried. */
  readonly announced?: string;
  /** The newest unsaved state that was announced. Separate from `announced`, because saving it is a separate fact. */
  readonly unsaved?: string;
  /** A compaction removed the bytes from what the model reads: it must read them again before it replaces them. */
  readonly compacted?: true;
}

/** The last state of a file that the model was shown. */
export interface SeenView {
  /** Absent: there was no such file, or the bytes are lost. */
  readonly bytes?: Uint8Array;
  /** The model was shown that the file does not exist. */
  readonly gone: boolean;
  /** The part that was shown; absent: all of it. */
  readonly part?: SeenPart;
  /** A compaction removed it from what the model reads. */
  readonly compacted: boolean;
  /** Whether these are the bytes that were shown. */
  is(bytes: Uint8Array): boolean;
}

export interface ShownFile {
  readonly file: FilePath;
  /** Absent: the model is shown that the file does not exist. */
  readonly bytes?: Uint8Array;
  /** Only these lines; absent: all. */
  readonly part?: SeenPart;
}

export interface ChangedFile {
  readonly file: FilePath;
  readonly before?: Uint8Array;
  readonly after?: Uint8Array;
  /** The kind of entry that the bytes belong to, unless it is a plain file; see the event. */
  readonly beforeKind?: EntryKind;
  readonly afterKind?: EntryKind;
  /** Permission bits; see the event. */
  readonly beforeMode?: number;
  readonly afterMode?: number;
}
