// Differences of files, as the card of a tool call shows them.

export interface DiffHunk {
  /** Numbers of the first line, before and after the change. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each begins with ` `, `+` or `-`. */
  readonly lines: readonly string[];
}

export interface FileDiff {
  readonly path: string;
  readonly kind: 'created' | 'changed' | 'deleted' | 'moved';
  /** The path it was moved from. */
  readonly from?: string;
  readonly added: number;
  readonly removed: number;
  /** Empty if the file is not text or too long to compare. */
  readonly hunks: readonly DiffHunk[];
  /** Number of omitted lines. */
  readonly cut?: number;
  /** Why there are no hunks although the bytes differ. */
  readonly note?: 'not_text' | 'too_long' | 'gone';
  /** With a note: sizes in bytes; absent if there was no such file or its bytes are not kept. */
  readonly sizes?: { readonly before?: number; readonly after?: number };
}

/** The changes to files that a call would make if it ran now. */
export interface CallPreview {
  readonly files: readonly FileDiff[];
  /** Number of omitted files. */
  readonly more?: number;
  /** Why the call would change nothing, in the words for the model. */
  readonly refusal?: string;
  /** The same for people, as the key of its translation. */
  readonly failure?: string;
}
