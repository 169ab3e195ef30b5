// A reusable buffer of encoded lines, which avoids garbage when many events are appended.
import { type LogEvent } from '../protocol/event.ts';
import { endOfLine } from './line.ts';

const FIRST_BYTES = 64 * 1024;
/** Larger buffers are not reused. */
const MOST_KEPT_BYTES = 1024 * 1024;
/** Most UTF-8 bytes for one UTF-16 unit. */
const MOST_BYTES_PER_UNIT = 3;
const MOST_END_BYTES = 32;

export class LineBuffer {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  add(event: LogEvent): void {
    const text = JSON.stringify(event);
    this.#reserve(text.length * MOST_BYTES_PER_UNIT + MOST_END_BYTES);
    // The line end replaces the closing brace.
    const brace = this.#length + this.#bytes.write(text, this.#length, 'utf8') - 1;
    this.#length = brace + this.#bytes.write(endOfLine(text), brace, 'latin1');
  }

  /** Valid until the next `add` or `clear`. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(FIRST_BYTES);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
