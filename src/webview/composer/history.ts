// Browses the user's messages with arrow up and down in the composer, as in a shell.

export interface Browsing {
  /** Counted from the newest; -1: the draft. */
  readonly place: number;
  /** The text before browsing began. */
  readonly draft: string;
}

export const NOT_BROWSING: Browsing = { place: -1, draft: '' };

/**
 * The text to show and the new place; undefined if the text field should handle the key. `messages`: the newest first.
 */
export function browse(
  key: 'ArrowUp' | 'ArrowDown',
  text: string,
  browsing: Browsing,
  messages: readonly string[],
): { readonly text: string; readonly browsing: Browsing } | undefined {
  const at = placeOf(text, browsing, messages);
  const isBrowsing = at >= 0;
  if (key === 'ArrowDown') {
    if (!isBrowsing) return undefined;
    const place = at - 1;
    return { text: messages[place] ?? browsing.draft, browsing: { ...browsing, place } };
  }
  if (!isBrowsing && text !== '') return undefined;
  const place = isBrowsing ? at + 1 : 0;
  const next = messages[place];
  if (next === undefined) return undefined;
  return { text: next, browsing: { place, draft: isBrowsing ? browsing.draft : text } };
}

/** -1: the text is not a message that was browsed to. Messages may have been added since. */
function placeOf(text: string, { place }: Browsing, messages: readonly string[]): number {
  return place < 0 || messages[place] === text ? place : messages.indexOf(text);
}
