// What a card shows of the files that its call changed.

export interface DiffHunk {
  /** The first line's number, before and after. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each begins with ` `, `+` or `-`. */
  readonly lines: readonly string[];
}

export interface FileDiff {
  readonly path: string;
  readonly kind: 'created' | 'changed' | 'deleted' | 'moved';
  /** Where it was moved from. */
  readonly from?: string;
  readonly added: number;
  readonly removed: number;
  /** Empty where nothing can be shown: no text, or too long to compare. */
  readonly hunks: readonly DiffHunk[];
  /** Lines that were left out. */
  readonly cut?: number;
  /** Why there are no hunks although the bytes differ. */
  readonly note?: 'not_text' | 'too_long' | 'gone';
  /** With a note: how many bytes; absent: there was no such file, or they are not kept. */
  readonly sizes?: { readonly before?: number; readonly after?: number };
}

/** What a call would do to files if it ran now. */
export interface CallPreview {
  readonly files: readonly FileDiff[];
  /** Files that are left out. */
  readonly more?: number;
  /** Why it would change nothing. */
  readonly refusal?: string;
}
