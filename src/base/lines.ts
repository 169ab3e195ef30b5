// Decides how a stream of text is cut into lines, with a limit, so that a peer without line breaks cannot fill the memory.

export class LineSplitter {
  readonly #limit: number;
  /** The line that has begun, as it came: joined only when it is complete. */
  #pieces: string[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that are complete now; undefined once one is longer than the limit. */
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
