// Marks of the bytes before a position, by which a file is recognized again although its name or its identity, which the
// system gives to the next file, says otherwise.

/** So many bytes before a position make its mark. */
export const MARK_BYTES = 256;

/** Its length and a checksum; undefined: there is nothing to recognize. */
export function markOf(before: Uint8Array): string | undefined {
  return before.length === 0 ? undefined : `${before.length}:${checksum(before)}`;
}

/** How many bytes this mark is of. */
export function markLength(mark: string | undefined): number {
  return mark === undefined ? 0 : Number(mark.slice(0, mark.indexOf(':')));
}

/** The last bytes of these pieces, as many as a mark needs. */
export function lastBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const last = new Uint8Array(Math.min(MARK_BYTES, length));
  let end = last.length;
  for (const piece of [...pieces].reverse()) {
    if (end === 0) break;
    const part = piece.subarray(Math.max(0, piece.length - end));
    end -= part.length;
    last.set(part, end);
  }
  return last;
}

/** 64 bits in two lanes; against accidents, not against forgery. */
function checksum(bytes: Uint8Array): string {
  let one = 0x811c9dc5;
  let other = 0x9747b28c;
  for (const byte of bytes) {
    one = Math.imul(one ^ byte, 0x01000193);
    other = Math.imul((other << 5) ^ (other >>> 27) ^ byte, 0x85ebca6b);
  }
  return (one >>> 0).toString(36) + (other >>> 0).toString(36);
}
