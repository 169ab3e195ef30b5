// What core must know about a tool besides how to run it. Tools declare it, since core has no list of tool names.

/** The arguments in the log: as the model wrote them, or as a person edited them. */
type CallArguments = Readonly<Record<string, unknown>>;

export interface ToolTraits {
  /** Sources of notifications. If a message from one of them had to be cut, this tool shows the rest. */
  readonly restOf?: readonly string[];
  /** After a call, previously reported states may no longer hold, so they are reported again. */
  readonly invalidatesReports?: true;
  /** The arguments of a successful call are the conversation's to-do list, as in `protocol/todo.ts`. */
  readonly writesTodo?: true;
  /** The arguments of a successful call, `add` and `remove`, change the globs that the conversation watches. */
  readonly changesWatches?: true;
  /** It loads skills: requests that offer it list them. */
  readonly loadsSkills?: true;
  /** It starts subagents, so it is offered only to conversations that may have some. */
  readonly startsAgents?: true;
  /** Subagents do not have it: they end with their turn. */
  readonly notForAgents?: true;
  /** Subagents always have it, whatever tools they were given: it reads notifications, or works with messages. */
  readonly forEveryAgent?: true;
  /** It sends messages to other agents. */
  readonly sendsMessages?: true;
  /** The MCP server that has the tool. Its tools are compared by `mcp.tools_changed`, not by `config.changed`. */
  readonly server?: string;
  /** Its results have text of others: of a page, of an MCP server, of other agents, of notifications, or of what it runs. */
  readonly resultsFrom?: 'page' | 'server' | 'message' | 'notification' | 'tool';
  /** It finds tools of MCP servers: with it, a conversation that begins with many of them is offered none of them. */
  readonly findsTools?: true;
  /** When to use it, for the system prompt; what it does is in its description. */
  readonly guide?: string;
  /** The task that the call runs: the conversation subscribes to it once the call is approved. */
  runsTask?(args: CallArguments): string | undefined;
  /** The handle that the call starts: other calls of the same answer wait for it. */
  startsHandle?(args: CallArguments): string | undefined;
}

export interface KnownTools {
  /** Undefined: no such tool was ever registered. */
  known(name: string): object | undefined;
  /** Also works for removed tools, since their earlier calls are still in the log. */
  traits(name: string): ToolTraits | undefined;
  /** The name of a registered tool that shows the rest of messages from this source. */
  withRestOf(source: string): string | undefined;
}
