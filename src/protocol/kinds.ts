// The built-in kinds of notification, with level, origin and audience. Menus and settings are built from this table.
import { defined } from '../base/json/defined.ts';
import { type Kind, type Level, type ORIGINS } from './notification.ts';

type Origin = (typeof ORIGINS)[number];

/**
 * Which conversations get a kind by default. `seen`: those that have seen the file; `watch`: those with a matching
 * glob; `live`: every live one; `owner`: the one that owns the handle; `server`: those with the server's tools;
 * `itself`: the one that the notification is about; `asked`: the one that asked for it with a tool; `messages`: decided
 * by subscriptions on the hub; `author`: the one whose commands or changes made a commit.
 */
type Audience = 'seen' | 'watch' | 'live' | 'owner' | 'server' | 'itself' | 'asked' | 'messages' | 'author';

export interface KindDescription {
  /** The level unless the producer raises it. */
  readonly level: Level;
  readonly origin: Origin;
  readonly audience: Audience;
  /** For people; shown by the mute menu and the settings. */
  readonly description: string;
  /**
   * `always`: wakes an idle model; `asked`: if the model asked for that; `own`: for what it did itself. Absent: only if
   * its level is critical.
   */
  readonly wakes?: 'always' | 'asked' | 'own';
}

const kind = (
  level: Level,
  origin: Origin,
  audience: Audience,
  description: string,
  wakes?: KindDescription['wakes'],
): KindDescription => ({ level, origin, audience, description, ...defined({ wakes }) });

/**
 * By `source.name`; the name `*` stands for all names of its source. Kinds of plugins are not listed; they go to the
 * conversations that they are addressed to.
 */
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
  'debug.exception': kind('error', 'debugger', 'live', 'A debugged program stopped at an exception.'),
  'debug.stopped': kind('info', 'debugger', 'live', 'A debugged program is stopped, such as at a breakpoint.'),
  'debug.ended': kind('info', 'debugger', 'live', 'A debugged program ended; an error if it failed.'),
  'port.opened': kind('info', 'process', 'owner', 'A background command listens on a port (not on Windows).'),
  'devserver.failed': kind(
    'error',
    'process',
    'owner',
    'A dev server of a background command cannot build (not on Windows).',
  ),
  'devserver.recovered': kind(
    'info',
    'process',
    'owner',
    'A dev server of a background command builds again (not on Windows).',
  ),
  'test.failed': kind('error', 'filesystem', 'live', 'Tests fail that passed before, by a test report.'),
  'test.passed': kind('info', 'filesystem', 'live', 'All tests of a test report pass again.'),
  'notebook.failed': kind('warning', 'editor', 'seen', 'A cell of a notebook failed that the model has read.'),
  'dependencies.changed': kind('info', 'filesystem', 'live', 'Packages of a lock file changed.'),
  'tool.stopped': kind('info', 'process', 'owner', 'A background command ended with exit code 0.', 'always'),
  'tool.failed': kind('error', 'process', 'owner', 'A background command ended without exit code 0.', 'always'),
  'tool.waiting': kind('warning', 'process', 'owner', 'A background command seems to wait for input.', 'always'),
  'tool.lost': kind('error', 'host', 'owner', 'A background command cannot be followed any more.'),
  'tool.running': kind('info', 'host', 'owner', 'Background commands are still running after a restart.'),
  'output.matched': kind('warning', 'process', 'asked', 'Lines that the model waits for were printed.', 'asked'),
  'output.quiet': kind('info', 'process', 'asked', 'A command or a log has printed nothing for a while.', 'asked'),
  'time.due': kind('info', 'host', 'asked', 'A timer of the model is due.', 'asked'),
  'wake.met': kind('info', 'host', 'asked', 'A condition that the model waits for is met.', 'asked'),
  'wake.expired': kind('info', 'host', 'asked', 'The deadline of a condition has passed.', 'asked'),
  'editor.focus': kind('info', 'editor', 'itself', 'The file and the selection in the active editor.'),
  'script.*': kind('info', 'plugin', 'live', 'A script sent a line with earshot-notify.', 'asked'),
  'ci.failed': kind('error', 'service', 'author', 'Checks of a commit failed that the conversation pushed.', 'own'),
  'ci.passed': kind('info', 'service', 'author', 'All checks of a commit passed that the conversation pushed.'),
  'review.received': kind('warning', 'service', 'author', 'A review or a comment on the pull request.'),
  'pr.changed': kind('info', 'service', 'author', 'The pull request was merged or closed, or has conflicts.'),
  'mcp.disconnected': kind('error', 'mcp', 'server', 'The connection to an MCP server was lost.'),
  'mcp.reconnected': kind('info', 'mcp', 'server', 'An MCP server is connected again.'),
  'mcp.tools_changed': kind('info', 'mcp', 'server', 'The tools of an MCP server changed.'),
  'mcp.resource_updated': kind('info', 'mcp', 'server', 'A resource that was attached or is watched has changed.'),
  'mcp.event': kind(
    'info',
    'mcp',
    'server',
    'An MCP server sent an event that the conversation subscribed to, or a message by itself.',
    'asked',
  ),
  'mcp.events_missed': kind('warning', 'mcp', 'asked', 'Events of an MCP server may be missing.'),
  'mcp.events_ended': kind('warning', 'mcp', 'asked', 'An MCP server has ended a subscription to its events.', 'asked'),
  'source.unavailable': kind(
    'warning',
    'host',
    'live',
    'Without an editor: a source cannot be used, such as CI while nobody is signed in.',
  ),
  'config.changed': kind('info', 'host', 'itself', 'The model, the tools, the mode or the instructions changed.'),
  'budget.context': kind('info', 'host', 'itself', 'The context window fills up.'),
  'budget.rate_limited': kind('warning', 'host', 'itself', 'The endpoint asks to slow down.'),
  'message.received': kind('info', 'agent', 'messages', 'Another agent sent a message.'),
  'hook.added': kind('info', 'host', 'itself', 'A hook added text for the model.'),
  'hook.objected': kind('warning', 'host', 'itself', 'A hook objected to an action of the model.'),
  'security.lookalike': kind('info', 'host', 'itself', 'A tool’s output imitates a block of notifications.'),
} as const satisfies Readonly<Record<`${string}.${string}`, KindDescription>>;

export type ShippedKind = keyof typeof KINDS;

const KIND_TABLE: Readonly<Record<string, KindDescription>> = KINDS;

/** The row of a kind; of one that is not listed, such as a plugin's, undefined. */
export function describedKind({ source, name }: Kind): KindDescription | undefined {
  const key = [`${source}.${name}`, anyOf(source)].find((one) => Object.hasOwn(KIND_TABLE, one));
  return key === undefined ? undefined : KIND_TABLE[key];
}

/** The kind that stands for all kinds of a source whose names are free. */
export function anyOf(source: string): `${string}.*` {
  return `${source}.*`;
}

export const SHIPPED_KINDS = Object.keys(KINDS) as readonly ShippedKind[];

/** Recoveries and the failures they resolve. If a failure was not delivered yet, it and its recovery cancel out. */
export const RECOVERIES = {
  'mcp.reconnected': 'mcp.disconnected',
  'devserver.recovered': 'devserver.failed',
  'test.passed': 'test.failed',
  // For a seen file the producer compares the bytes and publishes `file.changed` instead.
  'file.created': 'file.deleted',
} as const satisfies { readonly [K in ShippedKind]?: ShippedKind };
