// The built-in kinds of notification, with level, origin and audience. Menus and settings are built from this table.
import { type Level, type ORIGINS } from './notification.ts';

type Origin = (typeof ORIGINS)[number];

/**
 * Which conversations get a kind by default. `seen`: those that have seen the file; `watch`: those with a matching
 * glob; `live`: every live one; `owner`: the one that owns the handle; `server`: those with the server's tools;
 * `itself`: the one that the notification is about; `messages`: decided by subscriptions on the hub.
 */
type Audience = 'seen' | 'watch' | 'live' | 'owner' | 'server' | 'itself' | 'messages';

export interface KindDescription {
  /** The level unless the producer raises it. */
  readonly level: Level;
  readonly origin: Origin;
  readonly audience: Audience;
  /** For people; shown by the mute menu and the settings. */
  readonly description: string;
}

const kind = (level: Level, origin: Origin, audience: Audience, description: string): KindDescription => ({
  level,
  origin,
  audience,
  description,
});

/** By `source.name`. Kinds of plugins are not listed; they go to the conversations that they are addressed to. */
export const KINDS = {
  'file.changed': kind('warning', 'filesystem', 'seen', 'A file that the model has seen was changed.'),
  'file.deleted': kind('warning', 'filesystem', 'seen', 'A file that the model has seen was deleted.'),
  'file.renamed': kind('warning', 'editor', 'seen', 'A file that the model has seen was renamed.'),
  'file.unsaved': kind('info', 'editor', 'seen', 'A file that the model has seen has unsaved changes in the editor.'),
  'file.created': kind('info', 'filesystem', 'watch', 'A file appeared that the model watches for.'),
  'file.workspace': kind('info', 'filesystem', 'live', 'Other files of the workspace changed; reported as a count.'),
  'git.head_changed': kind('warning', 'filesystem', 'live', 'Another commit or branch was checked out.'),
  'diagnostics.introduced': kind('error', 'language-server', 'seen', 'New problems in a file that the model has seen.'),
  'diagnostics.resolved': kind(
    'info',
    'language-server',
    'seen',
    'Problems in a file that the model has seen are gone.',
  ),
  'task.ended': kind('info', 'process', 'live', 'A task of the editor ended.'),
  'terminal.failed': kind('warning', 'process', 'live', 'A command in a terminal failed.'),
  'tool.stopped': kind('info', 'process', 'owner', 'A background command ended with exit code 0.'),
  'tool.failed': kind('error', 'process', 'owner', 'A background command ended without exit code 0.'),
  'tool.waiting': kind('warning', 'process', 'owner', 'A background command seems to wait for input.'),
  'tool.lost': kind('error', 'host', 'owner', 'A background command cannot be followed any more.'),
  'tool.running': kind('info', 'host', 'owner', 'Background commands are still running after a restart.'),
  'mcp.disconnected': kind('error', 'mcp', 'server', 'The connection to an MCP server was lost.'),
  'mcp.reconnected': kind('info', 'mcp', 'server', 'An MCP server is connected again.'),
  'mcp.tools_changed': kind('info', 'mcp', 'server', 'The tools of an MCP server changed.'),
  'mcp.resource_updated': kind('info', 'mcp', 'server', 'A resource that was attached or is watched has changed.'),
  'mcp.event': kind('info', 'mcp', 'server', 'An MCP server sent an unsolicited message.'),
  'config.changed': kind('info', 'host', 'itself', 'The model, the tools, the mode or the instructions changed.'),
  'budget.context': kind('info', 'host', 'itself', 'The context window fills up.'),
  'budget.rate_limited': kind('warning', 'host', 'itself', 'The endpoint asks to slow down.'),
  'message.received': kind('info', 'agent', 'messages', 'Another agent sent a message.'),
  'hook.added': kind('info', 'host', 'itself', 'A hook added text for the model.'),
  'hook.objected': kind('warning', 'host', 'itself', 'A hook objected to an action of the model.'),
  'security.lookalike': kind('info', 'host', 'itself', 'A tool’s output imitates a block of notifications.'),
} as const satisfies Readonly<Record<`${string}.${string}`, KindDescription>>;

export type ShippedKind = keyof typeof KINDS;

export const SHIPPED_KINDS = Object.keys(KINDS) as readonly ShippedKind[];

/** Recoveries and the failures they resolve. If a failure was not delivered yet, it and its recovery cancel out. */
export const RECOVERIES = {
  'mcp.reconnected': 'mcp.disconnected',
  // For a seen file the producer compares the bytes and publishes `file.changed` instead.
  'file.created': 'file.deleted',
} as const satisfies { readonly [K in ShippedKind]?: ShippedKind };
