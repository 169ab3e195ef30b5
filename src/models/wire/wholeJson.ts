// Detects when a streamed text is one complete JSON value, without parsing it again for each piece.

/** Longer scalars are not arguments. */
const LONGEST_SCALAR = 100;

export class WholeJson {
  #kind: 'empty' | 'container' | 'text' | 'scalar' = 'empty';
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** The first value is complete; only spaces may follow. */
  #ended = false;
  #verdict: boolean | undefined;

  /** Takes the next piece, in time linear in its length. */
  add(piece: string): void {
    for (const character of piece) this.#take(character);
  }

  /** `text`: all pieces joined. It is parsed once, when its value is complete. */
  isWhole(text: string): boolean {
    if (this.#kind === 'scalar') return text.length <= LONGEST_SCALAR && isJson(text);
    if (!this.#ended) return false;
    this.#verdict ??= isJson(text);
    return this.#verdict;
  }

  #take(character: string): void {
    const isSpace = character === ' ' || character === '\n' || character === '\r' || character === '\t';
    if (this.#ended) {
      if (!isSpace) this.#verdict = false;
    } else if (this.#kind === 'empty') {
      if (!isSpace) this.#begin(character);
    } else if (this.#inText) this.#takeInText(character);
    else if (character === '"') this.#inText = true;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if (character === '}' || character === ']') {
      this.#depth -= 1;
      this.#ended = this.#kind === 'container' && this.#depth === 0;
    }
  }

  #begin(character: string): void {
    this.#kind = character === '{' || character === '[' ? 'container' : character === '"' ? 'text' : 'scalar';
    this.#depth = this.#kind === 'container' ? 1 : 0;
    this.#inText = this.#kind === 'text';
  }

  #takeInText(character: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (character === '\\') this.#escaped = true;
    else if (character === '"') {
      this.#inText = false;
      this.#ended = this.#kind === 'text';
    }
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
