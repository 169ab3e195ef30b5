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
}
