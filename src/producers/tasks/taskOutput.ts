// The last part of a task's output, as text without terminal controls.
import { withoutEscapes } from '../../base/terminalText.ts';

/** Number of characters that are kept. */
const KEPT = 100_000;

export class TaskOutput {
  #text = '';
  #listener: (text: string) => void = () => undefined;
  #dropped = false;
  readonly #ended = Promise.withResolvers<void>();

  /** Resolves at the end of the output. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get text(): string {
    return readable(this.#text).slice(-KEPT);
  }

  /** Calls the listener with earlier output first. */
  listen(listener: (text: string) => void): void {
    this.#listener = listener;
    if (this.#text !== '') listener(readable(this.#text));
  }

  /** Nobody will read it. */
  drop(): void {
    this.#dropped = true;
  }

  get isDropped(): boolean {
    return this.#dropped;
  }

  add(data: string): void {
    this.#text += data;
    // Not on every call, since that would copy the whole text each time.
    if (this.#text.length > 4 * KEPT) this.#text = this.#text.slice(-2 * KEPT);
    this.#listener(readable(data));
  }

  end(): void {
    this.#ended.resolve();
  }
}

function readable(text: string): string {
  return withoutEscapes(text).replaceAll('\r\n', '\n');
}
