// Decides how a stream of text is cut into lines, with a limit, so that a peer without line breaks cannot fill the memory.

export class LineSplitter {
  readonly #limit: number;
  #rest = '';

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that are complete now; undefined once one is longer than the limit. */
  take(text: string): string[] | undefined {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    return [this.#rest, ...lines].some((line) => line.length > this.#limit) ? undefined : lines;
  }
}
