// MCP servers as core and the producer of `mcp.*` notifications see them. Implemented in mcp/.
import { type Event } from '../../base/emitter.ts';
import { type ServerState } from '../../protocol/outside/mcp.ts';

export type McpChange =
  /** The connection is lost; `tools` cannot be called until it is restored. Fires once for each loss. */
  | { readonly type: 'lost'; readonly server: string; readonly reason: string; readonly tools: readonly string[] }
  | { readonly type: 'resource'; readonly server: string; readonly uri: string }
  /** This conversation was shown the current content of the resource. */
  | { readonly type: 'read'; readonly server: string; readonly uri: string; readonly conversation: string }
  /** A message that the server sent on its own: data from outside. */
  | { readonly type: 'event'; readonly server: string; readonly text: string };

export interface McpServerView {
  readonly name: string;
  readonly state: ServerState;
  /** Why it is not connected. */
  readonly problem?: string;
}

export interface McpSource {
  readonly onDidChange: Event<McpChange>;
  servers(): readonly McpServerView[];
  /** Replaces the set of resources whose changes are reported. They are named as by `resourceName`. */
  watch(resources: ReadonlySet<string>): void;
}

/** The tool of an MCP server that a call uses; approvals are decided by it. */
export interface TouchedServer {
  readonly name: string;
  /** Distinguishes servers that have the same name, now or later. */
  readonly identity: string;
  /** The tool's name on the server. */
  readonly tool: string;
  /** The server's own statement about the tool, for people: that it only reads, or that it may destroy something. */
  readonly note?: string;
  /** An *Always* for the whole server does not cover this tool. */
  readonly alone?: true;
}
