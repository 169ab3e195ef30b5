// Text that arrives in pieces: appending costs only the piece, and a reader can continue where it stopped.

export interface Growing {
  /** Shared with later states of the same text; only the first `count` belong to this one. */
  readonly pieces: readonly string[];
  readonly count: number;
  /** In UTF-16 units. */
  readonly length: number;
}

export function growing(text: string): Growing {
  return { pieces: text === '' ? [] : [text], count: text === '' ? 0 : 1, length: text.length };
}

export function grow(text: Growing, more: string): Growing {
  if (more === '') return text;
  // The newest state is extended in place, beyond the `count` of older states; an older state is copied first.
  const newest = text.pieces.length === text.count;
  const pieces = (newest ? text.pieces : text.pieces.slice(0, text.count)) as string[];
  pieces.push(more);
  return { pieces, count: text.count + 1, length: text.length + more.length };
}

export function wholeText(text: Growing): string {
  return text.pieces.slice(0, text.count).join('');
}
