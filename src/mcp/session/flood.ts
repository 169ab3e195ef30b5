// Keeps a server that sends without end from occupying this process: handles its output in small pieces, and recognizes
// a flood.
import { setImmediate } from 'node:timers/promises';

/** Small enough that the messages in one piece take only a few milliseconds. */
const PIECE_BYTES = 8 * 1024;
const WINDOW_MILLISECONDS = 10_000;
const MOST_MESSAGES = 10_000;
const MOST_MEBIBYTES = 256;

/** Calls `handle` for each piece; between two of them everything else in this process can run. */
export async function inPieces(chunk: Uint8Array, handle: (piece: Uint8Array) => void): Promise<void> {
  for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
    handle(chunk.subarray(from, from + PIECE_BYTES));
    await setImmediate();
  }
}

/** Counts what one server sends, by a clock that never goes back. */
export class FloodGate {
  #since = performance.now();
  #messages = 0;
  #bytes = 0;

  /** Returns why the server must be stopped, as soon as it sends more than any server needs to. */
  count(bytes: number): string | undefined {
    this.#messages += 1;
    this.#bytes += bytes;
    return this.isFlood ? FLOOD : undefined;
  }

  get isFlood(): boolean {
    if (performance.now() - this.#since >= WINDOW_MILLISECONDS) {
      this.#since = performance.now();
      [this.#messages, this.#bytes] = [0, 0];
    }
    return this.#messages > MOST_MESSAGES || this.#bytes > MOST_MEBIBYTES * 1024 * 1024;
  }
}

const FLOOD = `it sent more than ${MOST_MESSAGES.toLocaleString('en')} messages or ${MOST_MEBIBYTES} MiB in ${WINDOW_MILLISECONDS / 1000} s`;
