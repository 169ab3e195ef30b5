// Decides which tools there are and what the model is told of them.
import { type ToolDescription } from '../../protocol/tool.ts';
import { type Tool } from '../ports/ports.ts';

export class ToolRegistry {
  readonly #tools: ReadonlyMap<string, Tool>;

  constructor(tools: readonly Tool[]) {
    this.#tools = new Map(tools.map((tool) => [tool.description.name, tool]));
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  get descriptions(): readonly ToolDescription[] {
    return [...this.#tools.values()].map((tool) => tool.description);
  }

  /** Of those that only look, or can: Plan mode. */
  get readingDescriptions(): readonly ToolDescription[] {
    const reading = [...this.#tools.values()].filter((tool) => tool.effect === 'read' || tool.effectFor !== undefined);
    return reading.map((tool) => tool.description);
  }
}
