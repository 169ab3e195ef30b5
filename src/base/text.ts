// Decides what is text: UTF-8 without NUL.

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
