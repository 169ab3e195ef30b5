// Titles and icons of tool calls: `Read src/a.ts`, `Run npm test`; unknown tools have their own name.
import type { IconName } from './render/icons.tsx';
import { strings } from './strings.ts';

type Arguments = Readonly<Record<string, unknown>>;

interface Known {
  readonly icon: IconName;
  /** The argument shown in the title. */
  readonly subject: string;
  readonly verb: string;
}

const KNOWN = new Map<string, Known>(
  Object.entries({
    read_file: { icon: 'file', subject: 'path', verb: strings.verbs.read },
    list_files: { icon: 'list-tree', subject: 'path', verb: strings.verbs.list },
    search: { icon: 'search', subject: 'query', verb: strings.verbs.search },
    edit_file: { icon: 'edit', subject: 'path', verb: strings.verbs.edit },
    apply_patch: { icon: 'edit', subject: 'input', verb: strings.verbs.patch },
    write_file: { icon: 'edit', subject: 'path', verb: strings.verbs.write },
    move_file: { icon: 'file', subject: 'path', verb: strings.verbs.move },
    delete_file: { icon: 'trash', subject: 'path', verb: strings.verbs.delete },
    run_command: { icon: 'terminal', subject: 'command', verb: strings.verbs.run },
    handle: { icon: 'terminal', subject: 'name', verb: strings.verbs.handle['fetch'] ?? '' },
    await: { icon: 'terminal', subject: '', verb: strings.verbs.await },
    start_agent: { icon: 'fork', subject: 'name', verb: strings.verbs.startAgent },
    run_task: { icon: 'terminal', subject: 'name', verb: strings.verbs.runTask },
    diagnostics: { icon: 'warning', subject: 'path', verb: strings.verbs.diagnostics },
    fetch_url: { icon: 'file', subject: 'url', verb: strings.verbs.fetch },
    todo: { icon: 'check', subject: '', verb: strings.verbs.todo },
    watch: { icon: 'bell', subject: 'path', verb: strings.verbs.watch },
    ask_user: { icon: 'question', subject: 'question', verb: strings.verbs.ask },
    quick_fix: { icon: 'edit', subject: 'path', verb: strings.verbs.quickFix },
    send_message: { icon: 'bell', subject: 'content', verb: strings.verbs.sendMessage },
    read_message: { icon: 'bell', subject: 'id', verb: strings.verbs.readMessage },
    list_agents: { icon: 'list-tree', subject: '', verb: strings.verbs.listAgents },
    read_notifications: { icon: 'bell', subject: '', verb: strings.verbs.readNotifications },
  } satisfies Record<string, Known>),
);

export function toolIcon(name: string): IconName {
  return KNOWN.get(name)?.icon ?? 'tools';
}

export function toolTitle(name: string, values: Arguments): string {
  const known = KNOWN.get(name);
  const argument = known === undefined ? firstText(values) : textOf(values[known.subject]);
  const subject =
    name === 'apply_patch' ? patchedFiles(argument) : name === 'ask_user' ? argument?.replaceAll('`', '') : argument;
  const verb =
    (name === 'handle' ? strings.verbs.handle[textOf(values['action']) ?? ''] : undefined) ?? known?.verb ?? name;
  // Without a name of its own it is known by its task.
  if (name === 'start_agent' && subject === undefined)
    return `${verb} ${firstLine(textOf(values['task']) ?? '')}`.trim();
  return subject === undefined ? verb : `${verb} ${firstLine(subject)}`;
}

/** The first file named in the patch, and the number of others. */
function patchedFiles(patch: string | undefined): string | undefined {
  const [first, ...more] = [...(patch ?? '').matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(
    ([, path]) => path,
  );
  return first === undefined || more.length === 0 ? first : `${first} + ${more.length}`;
}

/** The command line, shown separately from the other arguments. */
export function commandOf(name: string, values: Arguments): string | undefined {
  return name === 'run_command' ? textOf(values['command']) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function firstText(values: Arguments): string | undefined {
  return Object.values(values)
    .map(textOf)
    .find((text) => text !== undefined && text.length <= 80);
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  const cut = line.length > 200 ? line.slice(0, 200) : line;
  return cut.length < text.trim().length ? `${cut}…` : cut;
}
