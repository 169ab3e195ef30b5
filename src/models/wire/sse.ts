// Parses server-sent events from bytes in any chunks. Pure, linear in time and bounded in memory.
import { describeBytes, TooLargeError } from '../../node/boundedBody.ts';

/** Limit of one event, which bounds memory. */
export const MOST_EVENT_BYTES = 16 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const FIELD = new TextEncoder().encode('data:');
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

export class SseReader {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** The incomplete line, and the data of the incomplete event, as bytes. */
  readonly #line = new Bytes();
  readonly #data = new Bytes();
  /** Bytes received for the data of the event so far, including field names; 0: no data yet. */
  #sent = 0;
  #isFirst = true;

  /** Returns the events that these bytes complete. Keep-alive comments are no events. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      const piece = bytes.subarray(start, end);
      start = end + 1;
      this.#readLine(this.#line.length === 0 ? piece : this.#line.with(piece), events);
      this.#line.clear();
    }
    this.#line.add(bytes.subarray(start));
    this.#check();
    return events;
  }

  /** Ends the stream. The last event may lack its blank line. */
  end(): string[] {
    return this.push(Uint8Array.of(LINE_FEED, LINE_FEED));
  }

  #readLine(bytes: Uint8Array, events: string[]): void {
    const line = withoutMark(bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes, this.#isFirst);
    this.#isFirst = false;
    if (line.length === 0) {
      if (this.#sent > 0) events.push(this.#decoder.decode(this.#data.all()));
      this.#sent = 0;
      this.#data.clear();
    } else if (FIELD.every((byte, index) => line[index] === byte)) {
      if (this.#sent > 0) this.#data.add(Uint8Array.of(LINE_FEED));
      this.#sent += bytes.length + 1;
      this.#data.add(line.subarray(line[FIELD.length] === SPACE ? FIELD.length + 1 : FIELD.length));
      this.#check();
    }
  }

  #check(): void {
    if (this.#line.length + this.#sent <= MOST_EVENT_BYTES) return;
    throw new TooLargeError(`one event of the stream is larger than ${describeBytes(MOST_EVENT_BYTES)}`);
  }
}

function withoutMark(line: Uint8Array, isFirst: boolean): Uint8Array {
  const marked = isFirst && BYTE_ORDER_MARK.every((byte, index) => line[index] === byte);
  return marked ? line.subarray(BYTE_ORDER_MARK.length) : line;
}

const SMALLEST = 4096;

/** A growing buffer; each byte is copied a bounded number of times. */
class Bytes {
  #buffer = new Uint8Array(SMALLEST);
  length = 0;

  add(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, this.#buffer.length * 2));
      larger.set(this.all());
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.length);
    this.length = length;
  }

  with(bytes: Uint8Array): Uint8Array {
    this.add(bytes);
    return this.all();
  }

  /** Valid until the next change. */
  all(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  /** Frees a large buffer; reuses a small one. */
  clear(): void {
    this.length = 0;
    if (this.#buffer.length > SMALLEST * 256) this.#buffer = new Uint8Array(SMALLEST);
  }
}
