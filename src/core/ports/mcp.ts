// What core and the producer of `mcp.*` notifications know of MCP servers. Implemented in mcp/.
import { type Event } from '../../base/emitter.ts';
import { type ServerState } from '../../protocol/outside/mcp.ts';

export type McpChange =
  /** The connection is gone; `tools` cannot be called until it is back. Once for each loss. */
  | { readonly type: 'lost'; readonly server: string; readonly reason: string; readonly tools: readonly string[] }
  | { readonly type: 'resource'; readonly server: string; readonly uri: string }
  /** This conversation was shown what the resource is now. */
  | { readonly type: 'read'; readonly server: string; readonly uri: string; readonly conversation: string }
  /** A message that the server sent by itself: data from outside. */
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
  /** Replaces the resources whose changes are announced; as `resourceName` names them. */
  watch(resources: ReadonlySet<string>): void;
}

/** What a call of a tool of an MCP server touches; approvals are decided by it. */
export interface TouchedServer {
  readonly name: string;
  /** Distinguishes servers that have the same name, now or later. */
  readonly identity: string;
  /** The tool's name on the server. */
  readonly tool: string;
  /** What the server says of the tool, for people: it only reads, it may destroy something. */
  readonly note?: string;
  /** *Always* for the whole server does not include it. */
  readonly alone?: true;
}
