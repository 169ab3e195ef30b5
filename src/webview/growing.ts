// Decides how a text that arrives in pieces is kept: appending costs the piece, and a reader can take up where it stopped.

export interface Growing {
  /** Shared by all later states of the same text; only the first `count` belong to this one. */
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
  // Growing the newest state adds in place, which older states cannot see; an older one is copied first.
  const newest = text.pieces.length === text.count;
  const pieces = (newest ? text.pieces : text.pieces.slice(0, text.count)) as string[];
  pieces.push(more);
  return { pieces, count: text.count + 1, length: text.length + more.length };
}

export function wholeText(text: Growing): string {
  return text.pieces.slice(0, text.count).join('');
}
