// What core must know of a tool besides how to run it. Tools declare it; core knows no tool by its name.

/** As they are in the log: what the model wrote, or what a person made of it. */
type CallArguments = Readonly<Record<string, unknown>>;

export interface ToolTraits {
  /** Sources of notifications. Where a message of theirs had to be cut, this tool has the rest. */
  readonly restOf?: readonly string[];
  /** After a call, states that were reported before may not hold any more: they are worth reporting again. */
  readonly invalidatesReports?: true;
  /** The arguments of a successful call are the conversation's to-do list, as in `protocol/todo.ts`. */
  readonly writesTodo?: true;
  /** The arguments of a successful call, `add` and `remove`, change the globs that the conversation watches. */
  readonly changesWatches?: true;
  /** It loads skills: requests that offer it list them. */
  readonly loadsSkills?: true;
  /** It starts subagents: only conversations that may have some are offered it. */
  readonly startsAgents?: true;
  /** Subagents have it whatever tools they were given: it reads notifications, or works with messages. */
  readonly forEveryAgent?: true;
  /** It sends messages to other agents. */
  readonly sendsMessages?: true;
  /** The MCP server that has the tool. Its tools are compared by `mcp.tools_changed`, not by `config.changed`. */
  readonly server?: string;
  /** It is offered only to conversations that have found it with a tool that finds tools, or have called it. */
  readonly onDemand?: true;
  /** The task that the call runs: the conversation subscribes to it once the call is approved. */
  runsTask?(args: CallArguments): string | undefined;
  /** The handle that the call starts: other calls of the same answer wait for it. */
  startsHandle?(args: CallArguments): string | undefined;
}

export interface KnownTools {
  /** Also of a tool that was removed: its earlier calls still mean what they meant. */
  traits(name: string): ToolTraits | undefined;
  /** The name of a tool that is there now and has the rest of messages of this source. */
  withRestOf(source: string): string | undefined;
}
