// Converts file names that are not UTF-8 to text and back without loss: each such byte becomes a lone surrogate.

/** U+DC80 to U+DCFF encode the bytes 0x80 to 0xFF. No UTF-8 decodes to them. */
const ESCAPE = 0xdc00;
const ODD = /(?<![\uD800-\uDBFF])[\uDC80-\uDCFF]/;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function decodeName(bytes: Uint8Array): string {
  const whole = decodeStrictly(bytes);
  if (whole !== undefined) return whole;
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = [4, 3, 2, 1].find((count) => isCharacter(bytes.subarray(at, at + count), count));
    if (length === undefined) text += String.fromCharCode(ESCAPE + (bytes[at] ?? 0));
    else text += decodeStrictly(bytes.subarray(at, at + length)) ?? '';
    at += length ?? 1;
  }
  return text;
}

/** The inverse of `decodeName`. */
export function encodeName(text: string): Buffer {
  if (!isOddName(text)) return Buffer.from(text);
  const parts = text.split(new RegExp(`(${ODD.source})`));
  return Buffer.concat(
    parts.map((part) => (ODD.test(part) ? Buffer.of(part.charCodeAt(0) - ESCAPE) : Buffer.from(part))),
  );
}

/** Whether the name's bytes are not UTF-8, so that the editor cannot name the file. */
export function isOddName(text: string): boolean {
  return ODD.test(text);
}

/** The path in a form that Node's file functions accept. */
export function diskPath(path: string): string | Buffer {
  return isOddName(path) ? encodeName(path) : path;
}

/** Splits the output of git's -z option. */
export function splitNames(listed: Buffer): string[] {
  const text = decodeStrictly(listed);
  if (text !== undefined) return text.split('\0');
  const names: string[] = [];
  for (let at = 0; at <= listed.length; ) {
    const end = listed.indexOf(0, at);
    names.push(decodeName(listed.subarray(at, end === -1 ? listed.length : end)));
    at = end === -1 ? listed.length + 1 : end + 1;
  }
  return names;
}

function isCharacter(bytes: Uint8Array, count: number): boolean {
  return bytes.length === count && decodeStrictly(bytes)?.length === (count === 4 ? 2 : 1);
}

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}
