// Decides what is text, which is UTF-8 without NUL, and where it may be cut.

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Undefined for what is not text. A byte-order mark is dropped. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8192).includes(0)) return undefined;
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** At most this many UTF-16 units from the beginning, never half a character. */
export function wholeCharacters(text: string, length: number): string {
  if (length <= 0) return '';
  const last = text.charCodeAt(length - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splits ? length - 1 : length);
}
