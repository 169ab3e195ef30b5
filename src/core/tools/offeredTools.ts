// The tools of one conversation: all registered ones, or fewer for a subagent.
import { type ToolDescription } from '../../protocol/tool.ts';
import { type Tool } from '../ports/ports.ts';
import { type KnownTools, type ToolTraits } from '../ports/toolTraits.ts';

export interface OfferedTools extends KnownTools {
  get(name: string): Tool | undefined;
  /** Also finds a tool that was removed. */
  known(name: string): Tool | undefined;
  readonly names: readonly string[];
  readonly descriptions: readonly ToolDescription[];
  /** Descriptions of the tools that only read, or have calls that only read; for Plan mode. */
  readonly readingDescriptions: readonly ToolDescription[];
}

export interface ToolLimits {
  /** The only tools that the conversation was given; undefined: all. */
  readonly tools: readonly string[] | undefined;
  /** Whether it may start subagents of its own. */
  readonly mayStartAgents: boolean;
  readonly isAgent: boolean;
}

/** A part of the tools in the registry; changes of the registry apply at once. */
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

  /** A tool outside the limits counts as unknown, not as removed. */
  known(name: string): Tool | undefined {
    return this.#has(name) ? this.#all.known(name) : undefined;
  }

  traits(name: string): ToolTraits | undefined {
    return this.#all.traits(name);
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
    const { tools, mayStartAgents, isAgent } = this.#limits;
    const traits = this.#all.traits(name);
    if (traits?.startsAgents === true && !mayStartAgents) return false;
    if (traits?.notForAgents === true && isAgent) return false;
    return tools === undefined || traits?.forEveryAgent === true || tools.includes(name);
  }
}
