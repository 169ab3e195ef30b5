// Masks a key in text that arrives in pieces: holds back text that may be the beginning of the key.
import { maskKey } from '../../core/conversation/key.ts';

export class StreamMask {
  readonly #key: string;
  #held = '';

  constructor(key: string) {
    this.#key = key;
  }

  /** The text that can be shown now. */
  add(text: string): string {
    if (this.#key === '') return text;
    const masked = maskKey(this.#held + text, this.#key);
    const held = heldLength(masked, this.#key);
    this.#held = masked.slice(masked.length - held);
    return masked.slice(0, masked.length - held);
  }

  /** Ends the text. Returns what was held back. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }
}

/** The length of the longest suffix of the text that is a prefix of the key. */
function heldLength(text: string, key: string): number {
  for (let length = Math.min(text.length, key.length - 1); length > 0; length -= 1) {
    if (key.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
