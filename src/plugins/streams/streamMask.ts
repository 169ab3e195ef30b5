// Masks a key in text that arrives in pieces: what may be the beginning of the key is held back until it is certain.
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

  /** What was held back: no more text comes. */
  end(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }
}

/** The length of the longest end of the text with which the key begins. */
function heldLength(text: string, key: string): number {
  for (let length = Math.min(text.length, key.length - 1); length > 0; length -= 1) {
    if (key.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
