// A text without the characters that nobody sees, such as colours and zero-width spaces, with the way back to the
// positions of the original. Escaped word characters (`\u0077`, `%5F`) are decoded.

/** The content of titles and links is kept, since it may contain a secret too. */
const HIDDEN =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]|\udb40[\udc00-\uddef]|\\u00[2-7][\da-fA-F]|%[2-7][\da-fA-F]/g;

export class VisibleText {
  readonly text: string;
  /** Of each visible character, where its original begins and ends; undefined if nothing is hidden. */
  readonly #places: { readonly starts: readonly number[]; readonly ends: readonly number[] } | undefined;

  constructor(original: string) {
    const parts: string[] = [];
    const [starts, ends]: [number[], number[]] = [[], []];
    let done = 0;
    const keepUntil = (end: number) => {
      parts.push(original.slice(done, end));
      for (let at = done; at < end; at += 1) {
        starts.push(at);
        ends.push(at + 1);
      }
    };
    for (const { 0: hidden, index } of original.matchAll(HIDDEN)) {
      const character = decode(hidden);
      if (character === undefined) continue;
      keepUntil(index);
      done = index + hidden.length;
      if (character === '') continue;
      parts.push(character);
      starts.push(index);
      ends.push(done);
    }
    if (done > 0) keepUntil(original.length);
    this.text = done > 0 ? parts.join('') : original;
    this.#places = done > 0 ? { starts, ends } : undefined;
  }

  /** Where the visible characters from `start` to `end` are in the original. */
  inOriginal(start: number, end: number): readonly [start: number, end: number] {
    if (this.#places === undefined) return [start, end];
    const { starts, ends } = this.#places;
    const from = starts[start] ?? ends.at(-1) ?? 0;
    return [from, end > start ? (ends[end - 1] ?? from) : from];
  }
}

/** Empty: it is not visible. Undefined: an escaped character that cannot be part of a name, which is left as it is. */
function decode(hidden: string): string | undefined {
  if (!hidden.startsWith('\\') && !hidden.startsWith('%')) return '';
  const character = String.fromCharCode(Number.parseInt(hidden.slice(-2), 16));
  return /[\w-]/.test(character) ? character : undefined;
}
