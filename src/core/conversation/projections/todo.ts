// Projects the model's to-do list, as its last successful call wrote it. It is in the log, so it survives a restart.
import { type LogEvent } from '../../../protocol/event.ts';
import { type TodoItem, todoArgumentsSchema } from '../../../protocol/todo.ts';
import { type KnownTools } from '../../ports/toolTraits.ts';

export class Todo {
  #items: readonly TodoItem[] = [];
  readonly #asked = new Map<string, unknown>();
  readonly #tools: KnownTools | undefined;

  constructor(tools: KnownTools | undefined) {
    this.#tools = tools;
  }

  /** A new array after each change. */
  get items(): readonly TodoItem[] {
    return this.#items;
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'tool_call_request':
        if (this.#tools?.traits(event.name)?.writesTodo === true) this.#asked.set(event.id, event.arguments);
        return;
      case 'approval':
        if (event.arguments !== undefined && this.#asked.has(event.tool_call_id)) {
          this.#asked.set(event.tool_call_id, event.arguments);
        }
        return;
      case 'tool_call_response':
        this.#answered(event.id, event.is_error);
        return;
      default:
        return;
    }
  }

  #answered(id: string, failed: boolean): void {
    const asked = this.#asked.get(id);
    if (!this.#asked.delete(id) || failed) return;
    const parsed = todoArgumentsSchema.safeParse(asked);
    if (parsed.success) this.#items = parsed.data.items;
  }
}
