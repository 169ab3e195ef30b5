// The messages that a page was sent since its last snapshot, so that it can continue after a lost connection.
import { type ToPage } from '../protocol/webview.ts';

/** Beyond this size a new snapshot is cheaper. */
const MOST_CHARACTERS = 4_000_000;

export class SentLines {
  #lines: { readonly number: number; readonly line: string }[] = [];
  #characters = 0;

  add(message: ToPage, line: string): void {
    if (!('number' in message)) return;
    if (message.type === 'snapshot') this.#clear();
    this.#lines.push({ number: message.number, line });
    this.#characters += line.length;
    if (message.type !== 'snapshot' && this.#characters > MOST_CHARACTERS) this.#clear();
  }

  /** The lines after this number; undefined if some of them are no longer stored. */
  after(number: number): readonly string[] | undefined {
    const [first] = this.#lines;
    if (first === undefined || number < first.number) return undefined;
    const last = this.#lines.at(-1)?.number ?? 0;
    if (number > last) return undefined;
    return this.#lines.filter((one) => one.number > number).map(({ line }) => line);
  }

  #clear(): void {
    this.#lines = [];
    this.#characters = 0;
  }
}
