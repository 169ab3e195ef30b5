// Projects which on-demand tools a conversation has found or called: its later requests offer them.
import { type LogEvent } from '../../../protocol/event.ts';

export class FoundTools {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  fold(event: LogEvent): void {
    if (event.type === 'tool_call_request') this.#names.add(event.name);
    if (event.type === 'tool_call_response') for (const name of event.tools ?? []) this.#names.add(name);
  }
}
