// Helpers for text: decoding, cutting at character boundaries, trimming, Markdown fences.
import { decodeBytes } from './encodings.ts';

/** Everything that may be read as the end of a line. */
const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

/** Marks every line as quoted, so that no line of somebody else's text can be mistaken for Earshot's. */
export function markLines(text: string): string {
  return text
    .split(LINE_END)
    .map((line) => `| ${line}`)
    .join('\n');
}

/** Without anything that may be read as the end of a line. */
export function oneLine(text: string): string {
  return text.split(LINE_END).join(' ');
}

export function firstLine(text: string): string {
  return text.split(LINE_END, 1)[0] ?? '';
}

/** Undefined if the bytes are not text. A byte-order mark is dropped. */
export function decodeText(bytes: Uint8Array): string | undefined {
  return decodeBytes(bytes)?.text;
}

/** `1 line`, `2 lines`. */
export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** At most this many UTF-16 units from the beginning, never half a character. */
export function wholeCharacters(text: string, length: number): string {
  if (length <= 0) return '';
  const last = text.charCodeAt(length - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splits ? length - 1 : length);
}

/** Trims these characters from the end in linear time, which a regular expression would not. */
export function withoutTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A Markdown fence longer than any run of backticks in the text, so that the text cannot close it. */
export function fenceAround(text: string): string {
  let [longest, run] = [2, 0];
  for (let at = text.indexOf('`'); at !== -1 && at < text.length; at += 1) {
    run = text[at] === '`' ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return '`'.repeat(longest + 1);
}

/** The first names, and how many more there are. */
export function shortList(names: readonly string[], most = 5): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
