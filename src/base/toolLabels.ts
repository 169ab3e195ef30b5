// Names of tools for people. The English text is also the key of its translation.

/** The tool whose calls are the to-do list that front ends show. */
export const TODO_TOOL = 'todo';
/** The tools that run commands and tasks. */
export const RUNNING_TOOLS: ReadonlySet<string> = new Set(['run_command', 'run_task', 'run_tests']);

const LABELS: Readonly<Record<string, string>> = {
  apply_patch: 'Apply patch',
  ask_user: 'Ask a question',
  await: 'Wait for background commands',
  delete_file: 'Delete file',
  diagnostics: 'Check problems',
  edit_file: 'Edit file',
  fetch_url: 'Fetch page',
  find_tools: 'Find tools',
  handle: 'Use background command',
  list_agents: 'List agents',
  list_files: 'List files',
  load_skill: 'Load skill',
  move_file: 'Move file',
  quick_fix: 'Apply quick fix',
  read_file: 'Read file',
  read_message: 'Read message',
  read_notifications: 'Read notifications',
  read_resource: 'Read resource',
  run_command: 'Run command',
  run_task: 'Run task',
  run_tests: 'Run tests',
  search: 'Search in files',
  send_message: 'Send message',
  start_agent: 'Start subagent',
  subscribe_events: 'Subscribe to events',
  symbols: 'Look up symbol',
  todo: 'Update the to-do list',
  wake_when: 'Set a timer or condition',
  watch: 'Watch files',
  write_file: 'Write file',
};

/** Undefined for tools of MCP servers, and tools that do not exist. */
export function knownToolLabel(name: string): string | undefined {
  return Object.hasOwn(LABELS, name) ? LABELS[name] : undefined;
}

/** For a tool without a label: `kitchen: order tea` for `kitchen__order_tea`, the tool of the MCP server `kitchen`. */
export function otherToolName(name: string): string {
  const end = name.indexOf('__', 1);
  if (end === -1 || end + 2 >= name.length) return spaced(name);
  return `${name.slice(0, end)}: ${spaced(name.slice(end + 2))}`;
}

/** `First line` for `first_line` and `firstLine`. */
export function readableKey(key: string): string {
  const words = spaced(
    key.replace(/([a-z0-9])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`),
  );
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** A name of underscores only is left as it is. */
function spaced(name: string): string {
  const words = name.replace(/[_-]+/g, ' ').trim();
  return words === '' ? name : words;
}
