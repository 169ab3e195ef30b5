// Decides what is text, and where it may be cut.
import { decodeBytes } from './encodings.ts';

/** Undefined for what is not text. A byte-order mark is dropped. */
export function decodeText(bytes: Uint8Array): string | undefined {
  return decodeBytes(bytes)?.text;
}

/** At most this many UTF-16 units from the beginning, never half a character. */
export function wholeCharacters(text: string, length: number): string {
  if (length <= 0) return '';
  const last = text.charCodeAt(length - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splits ? length - 1 : length);
}
