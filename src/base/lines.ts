// Splits a stream of text into lines, with a length limit that bounds memory.

export class LineSplitter {
  readonly #limit: number;
  /** Pieces of the incomplete line; joined when it is complete. */
  #pieces: string[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that this text completes; undefined once one exceeds the limit. */
  take(text: string): string[] | undefined {
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = [...this.#pieces, lines[0] ?? ''].join('');
      [this.#pieces, this.#length] = [[], 0];
    }
    if (rest !== '') this.#pieces.push(rest);
    this.#length += rest.length;
    return this.#length > this.#limit || lines.some((line) => line.length > this.#limit) ? undefined : lines;
  }
}
