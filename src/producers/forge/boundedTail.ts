// Keeps the beginning and the end of a long answer: the headers, and the last lines of a log.

const HEAD = 64 * 1024;
const TAIL = 8 * 1024 * 1024;

export class BoundedTail {
  #head = Buffer.alloc(0);
  #tail: Buffer[] = [];
  #length = 0;

  add(chunk: Buffer): void {
    const room = HEAD - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    if (chunk.length <= room) return;
    const rest = room > 0 ? chunk.subarray(room) : chunk;
    this.#tail.push(rest);
    this.#length += rest.length;
    while (this.#length - (this.#tail[0]?.length ?? 0) >= TAIL) this.#length -= this.#tail.shift()?.length ?? 0;
  }

  text(): string {
    return Buffer.concat([this.#head, ...this.#tail]).toString('utf8');
  }
}
