// Splits a byte stream into lines that end in \n, with a limit for the length of one line.

const NEWLINE = 0x0a;

export interface LineReader {
  /** `line` is complete, without its line end; undefined if it is not valid UTF-8. */
  onLine(line: string | undefined): void;
  /** A line exceeds the limit. Nothing more is read from this stream. */
  onTooLong(): void;
}

/** Takes time linear in the bytes received, whatever the size of the chunks. */
export class LineSplitter {
  readonly #limit: number;
  readonly #reader: LineReader;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #chunks: Uint8Array[] = [];
  #length = 0;
  #ended = false;

  constructor(limit: number, reader: LineReader) {
    this.#limit = limit;
    this.#reader = reader;
  }

  write(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (!this.#keep(chunk.subarray(start, end))) return;
      this.#emit();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  /** Stops reading and drops an incomplete line. */
  end(): void {
    this.#ended = true;
    this.#chunks = [];
    this.#length = 0;
  }

  #keep(bytes: Uint8Array): boolean {
    if (this.#ended) return false;
    this.#length += bytes.length;
    if (this.#length > this.#limit) {
      this.end();
      this.#reader.onTooLong();
      return false;
    }
    if (bytes.length > 0) this.#chunks.push(bytes.slice());
    return true;
  }

  #emit(): void {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : joined(this.#chunks, this.#length);
    this.#chunks = [];
    this.#length = 0;
    this.#reader.onLine(this.#decode(bytes ?? new Uint8Array()));
  }

  #decode(bytes: Uint8Array): string | undefined {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      return undefined;
    }
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
