// Projects which on-demand tools a conversation has found or called: its later requests offer them.
import { type LogEvent } from '../../../protocol/event.ts';

export class FoundTools {
  readonly #names = new Set<string>();

  /** The last found or called first. */
  get newestFirst(): readonly string[] {
    return [...this.#names].reverse();
  }

  fold(event: LogEvent): void {
    if (event.type === 'tool_call_request') this.#add(event.name);
    // The best match comes first in the result.
    if (event.type === 'tool_call_response') for (const name of (event.tools ?? []).toReversed()) this.#add(name);
  }

  #add(name: string): void {
    this.#names.delete(name);
    this.#names.add(name);
  }
}
