// The tools of one conversation: all that are registered, or fewer for a subagent.
import { type ToolDescription } from '../../protocol/tool.ts';
import { type Tool } from '../ports/ports.ts';
import { type KnownTools, type ToolTraits } from '../ports/toolTraits.ts';

export interface OfferedTools extends KnownTools {
  get(name: string): Tool | undefined;
  /** Also a tool that was removed. */
  known(name: string): Tool | undefined;
  readonly names: readonly string[];
  readonly descriptions: readonly ToolDescription[];
  /** Of the tools that only read, or can: Plan mode. */
  readonly readingDescriptions: readonly ToolDescription[];
}

export interface ToolLimits {
  /** The only tools that it was given; undefined: all. */
  readonly tools: readonly string[] | undefined;
  /** It may start subagents of its own. */
  readonly mayStartAgents: boolean;
}

/** Tools that come and go with the registry's. */
export class LimitedTools implements OfferedTools {
  readonly #all: OfferedTools;
  readonly #limits: ToolLimits;

  constructor(all: OfferedTools, limits: ToolLimits) {
    this.#all = all;
    this.#limits = limits;
  }

  get(name: string): Tool | undefined {
    return this.#has(name) ? this.#all.get(name) : undefined;
  }

  /** For it there is no such tool, rather than one that was removed. */
  known(name: string): Tool | undefined {
    return this.#has(name) ? this.#all.known(name) : undefined;
  }

  /** A tool that it was given by name needs not be found first. */
  traits(name: string): ToolTraits | undefined {
    const traits = this.#all.traits(name);
    if (traits?.onDemand !== true || this.#limits.tools?.includes(name) !== true) return traits;
    const { onDemand: _, ...others } = traits;
    return others;
  }

  withRestOf(source: string): string | undefined {
    const name = this.#all.withRestOf(source);
    return name !== undefined && this.#has(name) ? name : undefined;
  }

  get names(): readonly string[] {
    return this.#all.names.filter((name) => this.#has(name));
  }

  get descriptions(): readonly ToolDescription[] {
    return this.#all.descriptions.filter(({ name }) => this.#has(name));
  }

  get readingDescriptions(): readonly ToolDescription[] {
    return this.#all.readingDescriptions.filter(({ name }) => this.#has(name));
  }

  #has(name: string): boolean {
    const { tools, mayStartAgents } = this.#limits;
    const traits = this.#all.traits(name);
    if (traits?.startsAgents === true && !mayStartAgents) return false;
    return tools === undefined || traits?.forEveryAgent === true || tools.includes(name);
  }
}
