// Labels of notification kinds, for people. The English text is also the key of its translation.
import { type Kind, printKind } from './notification.ts';

const LABELS: Readonly<Record<string, string>> = {
  'file.changed': 'File changed',
  'file.deleted': 'File deleted',
  'file.renamed': 'File renamed',
  'file.unsaved': 'Unsaved changes',
  'file.created': 'File created',
  'file.workspace': 'Other files changed',
  'git.head_changed': 'Git checkout',
  'diagnostics.introduced': 'New problems',
  'diagnostics.resolved': 'Problems resolved',
  'task.ended': 'Task ended',
  'terminal.failed': 'Terminal command failed',
  'debug.exception': 'Exception in the debugger',
  'debug.stopped': 'Stopped in the debugger',
  'debug.ended': 'Debugged program ended',
  'port.opened': 'Port opened',
  'devserver.failed': 'Dev server failed',
  'devserver.recovered': 'Dev server recovered',
  'test.failed': 'Tests failed',
  'test.passed': 'Tests pass again',
  'notebook.failed': 'Cell failed',
  'dependencies.changed': 'Dependencies changed',
  'tool.stopped': 'Background command ended',
  'tool.failed': 'Background command failed',
  'tool.waiting': 'Background command may be waiting for input',
  'tool.lost': 'Background command lost',
  'tool.running': 'Background commands still running',
  'output.matched': 'Line printed',
  'output.quiet': 'No output',
  'time.due': 'Timer due',
  'wake.met': 'Condition met',
  'wake.expired': 'Deadline passed',
  'editor.focus': 'Active editor',
  'script.*': 'Line from a script',
  'ci.failed': 'CI failed',
  'ci.passed': 'CI passed',
  'review.received': 'Review or comment',
  'pr.changed': 'Pull request changed',
  'mcp.disconnected': 'MCP server disconnected',
  'mcp.reconnected': 'MCP server reconnected',
  'mcp.tools_changed': 'MCP tools changed',
  'mcp.event': 'Event of an MCP server',
  'mcp.events_missed': 'MCP events may be missing',
  'mcp.events_ended': 'MCP subscription ended',
  'config.changed': 'Configuration changed',
  'budget.context': 'Context filling up',
  'budget.rate_limited': 'Rate limited',
  'message.received': 'Message from an agent',
  'hook.added': 'Added by a hook',
  'hook.objected': 'Hook objected',
  'security.lookalike': 'Output imitates a notification',
};
const OTHER_LABELS = { message_of_user: 'Message from a user' } as const;

/** Instead of the label of `message.received`, if a person wrote the message. */
export const MESSAGE_OF_USER = OTHER_LABELS.message_of_user;

/** Kinds of plugins have no label here; their name is printed with spaces. */
export function kindLabel(kind: Kind): string {
  const known = LABELS[printKind(kind)];
  if (known !== undefined) return known;
  return `${kind.source}: ${kind.name.replace(/_+/g, ' ')}`;
}

/** What people call the sources of notifications. */
export const SOURCE_LABELS: Readonly<Record<string, string>> = {
  file: 'Files',
  git: 'Git',
  diagnostics: 'Problems',
  task: 'Tasks',
  terminal: 'Terminals',
  tool: 'Background commands',
  debug: 'Debugger',
  port: 'Ports',
  devserver: 'Dev servers',
  test: 'Tests',
  notebook: 'Notebooks',
  dependencies: 'Dependencies',
  ci: 'CI',
  review: 'Reviews',
  pr: 'Pull requests',
  hook: 'Hooks',
  output: 'Output',
  time: 'Timers',
  wake: 'Conditions',
  editor: 'Editor',
  script: 'Scripts',
  source: 'Sources',
  mcp: 'MCP servers',
  config: 'Configuration',
  budget: 'Budget',
  message: 'Messages',
  security: 'Security',
};
