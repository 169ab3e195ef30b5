// Holds the tools that models can call. Tools can be added and removed while conversations run.
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { type Tool } from '../ports/ports.ts';
import { type ToolTraits } from '../ports/toolTraits.ts';
import { type OfferedTools } from './offeredTools.ts';

/**
 * A request offers the tools registered at that time. A call is refused if its tool was removed meanwhile; a call that
 * is already running continues to its end.
 */
export class ToolRegistry implements OfferedTools, Disposable {
  readonly #tools: Map<string, Tool>;
  /** Includes removed tools, since their earlier calls are still in the log. */
  readonly #known: Map<string, Tool>;
  readonly #onDidChange: Emitter<void>;

  constructor(tools: readonly Tool[], report: (error: unknown) => void) {
    this.#tools = new Map(tools.map((tool) => [tool.description.name, tool]));
    this.#known = new Map(this.#tools);
    this.#onDidChange = new Emitter(report);
  }

  /** Fires when tools were added or removed. */
  get onDidChange(): Event<void> {
    return this.#onDidChange.event;
  }

  /** Adds tools until the result is disposed of. Throws if one of the names is taken; then none is added. */
  register(tools: readonly Tool[]): Disposable {
    const names = tools.map((tool) => tool.description.name);
    const taken = names.find((name, index) => this.#tools.has(name) || names.indexOf(name) !== index);
    if (taken !== undefined) throw new Error(`there is a tool ${taken} already`);
    for (const tool of tools) {
      this.#tools.set(tool.description.name, tool);
      this.#known.set(tool.description.name, tool);
    }
    this.#onDidChange.fire();
    return toDisposable(() => this.#remove(tools));
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }

  /** Also finds a tool that was removed. */
  known(name: string): Tool | undefined {
    return this.#known.get(name);
  }

  traits(name: string): ToolTraits | undefined {
    return this.#known.get(name)?.traits;
  }

  withRestOf(source: string): string | undefined {
    const found = [...this.#tools.values()].find((tool) => tool.traits?.restOf?.includes(source) === true);
    return found?.description.name;
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  get descriptions(): readonly ToolDescription[] {
    return [...this.#tools.values()].map((tool) => tool.description);
  }

  /** Descriptions of the tools that only read, or have calls that only read; for Plan mode. */
  get readingDescriptions(): readonly ToolDescription[] {
    const reading = [...this.#tools.values()].filter((tool) => tool.effect === 'read' || tool.effectFor !== undefined);
    return reading.map((tool) => tool.description);
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }

  #remove(tools: readonly Tool[]): void {
    for (const tool of tools) this.#tools.delete(tool.description.name);
    this.#onDidChange.fire();
  }
}
