// Splits a file into lines without losing a byte: each byte becomes one character, whatever the encoding.

const CHUNK = 8192;
/** Longer files are not split. */
const LONGEST = 5_000_000;
const CHECKED_BYTES = 8192;

/** Undefined if the bytes are not text, or too many to split. `joinLines` reverses it. */
export function byteLines(bytes: Uint8Array): string[] | undefined {
  if (bytes.length > LONGEST) return undefined;
  const end = lineEndOf(bytes);
  const wide = end.length > 1;
  if (!wide && bytes.subarray(0, CHECKED_BYTES).includes(0)) return undefined;
  const text = asCharacters(bytes);
  const lines: string[] = [];
  let start = 0;
  for (let at = text.indexOf(end); at !== -1; ) {
    // At an odd offset, the match is half of one character and half of the next.
    const isEnd = !wide || at % 2 === 0;
    const next = isEnd ? at + end.length : at + 1;
    if (isEnd) {
      lines.push(text.slice(start, next));
      start = next;
    }
    at = text.indexOf(end, next);
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** The characters at the end of each line: two for UTF-16 with a byte order mark. */
export function lineEndOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return '\n\0';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? '\0\n' : '\n';
}

export function joinLines(lines: readonly string[]): Uint8Array {
  const text = lines.join('');
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}

function asCharacters(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return text;
}
