// What a conversation was shown of files, and what a call shows or changes of them.
import { type EntryKind, type SeenPart } from '../../protocol/event.ts';
import { type FilePath } from './workspace.ts';

/** What a conversation knows of a file, by hash. */
export interface SeenState {
  readonly hash: string;
  /** Only these lines of the bytes were shown; absent: all. */
  readonly part?: SeenPart;
  /** The newest state that a notification announced, pending or carried. */
  readonly announced?: string;
  /** The newest unsaved state that was announced. Separate from `announced`, since saving it is another fact. */
  readonly unsaved?: string;
  /** A compaction removed the bytes from what the model reads: it must read them again before it replaces them. */
  readonly compacted?: true;
}

/** What the model was shown last of a file. */
export interface SeenView {
  /** Absent: there was no such file, or the bytes are lost. */
  readonly bytes?: Uint8Array;
  /** It was shown that there is no such file. */
  readonly gone: boolean;
  /** The part that was shown; absent: all of it. */
  readonly part?: SeenPart;
  /** It is no longer in what the model reads. */
  readonly compacted: boolean;
  /** Whether these are the bytes that were shown. */
  is(bytes: Uint8Array): boolean;
}

export interface ShownFile {
  readonly file: FilePath;
  /** Absent: it is shown that there is no such file. */
  readonly bytes?: Uint8Array;
  /** Only these lines; absent: all. */
  readonly part?: SeenPart;
}

export interface ChangedFile {
  readonly file: FilePath;
  readonly before?: Uint8Array;
  readonly after?: Uint8Array;
  /** What the bytes are of, where that is no plain file; see the event. */
  readonly beforeKind?: EntryKind;
  readonly afterKind?: EntryKind;
}
