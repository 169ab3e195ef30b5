// Titles, names and icons of tools: `Read src/a.ts`, `Run npm test`; other tools are shown by their name.
import { knownToolLabel, otherToolName } from '../base/toolLabels.ts';
import type { IconName } from './render/icons.tsx';
import { t } from './strings/l10n.ts';
import { strings } from './strings/strings.ts';

type Arguments = Readonly<Record<string, unknown>>;

interface ToolFace {
  readonly icon: IconName;
  /** The argument shown in the title. */
  readonly subject: string;
  readonly verb: string;
}

const KNOWN = new Map<string, ToolFace>(
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
    run_tests: { icon: 'terminal', subject: 'files', verb: strings.verbs.runTests },
    diagnostics: { icon: 'warning', subject: 'path', verb: strings.verbs.diagnostics },
    fetch_url: { icon: 'file', subject: 'url', verb: strings.verbs.fetch },
    todo: { icon: 'check', subject: '', verb: strings.verbs.todo },
    watch: { icon: 'bell', subject: 'add', verb: strings.verbs.watch },
    wake_when: { icon: 'bell', subject: 'name', verb: strings.verbs.wakeWhen },
    symbols: { icon: 'search', subject: 'symbol', verb: strings.verbs.symbols['find'] ?? '' },
    load_skill: { icon: 'file', subject: 'name', verb: strings.verbs.loadSkill },
    ask_user: { icon: 'question', subject: 'question', verb: strings.verbs.ask },
    quick_fix: { icon: 'edit', subject: 'path', verb: strings.verbs.quickFix },
    send_message: { icon: 'bell', subject: 'content', verb: strings.verbs.sendMessage },
    read_message: { icon: 'bell', subject: '', verb: strings.verbs.readMessage },
    list_agents: { icon: 'list-tree', subject: '', verb: strings.verbs.listAgents },
    read_notifications: { icon: 'bell', subject: '', verb: strings.verbs.readNotifications },
    find_tools: { icon: 'search', subject: 'query', verb: strings.verbs.findTools },
    subscribe_events: { icon: 'bell', subject: 'event', verb: strings.verbs.subscribeEvents },
    read_resource: { icon: 'file', subject: 'uri', verb: strings.verbs.readResource },
  } satisfies Record<string, ToolFace>),
);

export function toolIcon(name: string): IconName {
  return KNOWN.get(name)?.icon ?? 'tools';
}

/** Whether the tool is one of Earshot's. */
export function isKnownTool(name: string): boolean {
  return KNOWN.has(name);
}

/** The name of a tool for people. */
export function toolLabel(name: string): string {
  const known = knownToolLabel(name);
  return known === undefined ? otherToolName(name) : t(known);
}

export function toolTitle(name: string, values: Arguments): string {
  const known = KNOWN.get(name);
  const subject = known === undefined ? firstText(values) : subjectOf(name, values, known.subject);
  const byAction = ACTIONS.get(name)?.[nonEmptyText(values['action']) ?? ''];
  const verb = stopsWatching(name, values) ? strings.verbs.unwatch : (byAction ?? known?.verb ?? toolLabel(name));
  return subject === undefined ? verb : `${verb} ${firstLine(subject)}`;
}

const ACTIONS = new Map([
  ['handle', strings.verbs.handle],
  ['symbols', strings.verbs.symbols],
]);

/** The file at the end of the title, if it still exists after the call. */
export function titlePath(name: string, values: Arguments): string | undefined {
  if (KNOWN.get(name)?.subject !== 'path' || name === 'list_files' || name === 'delete_file' || name === 'move_file')
    return undefined;
  return nonEmptyText(values['path']);
}

function subjectOf(name: string, values: Arguments, key: string): string | undefined {
  const argument = nonEmptyText(values[key]);
  switch (name) {
    case 'apply_patch':
      return patchedFiles(argument);
    case 'ask_user':
      return argument?.replaceAll('`', '');
    case 'move_file':
      return [argument, nonEmptyText(values['to'])].filter((path) => path !== undefined).join(' → ') || undefined;
    case 'start_agent':
      return argument ?? nonEmptyText(values['task']);
    case 'symbols':
      return argument ?? nonEmptyText(values['path']);
    case 'watch':
      return listOf(values[stopsWatching(name, values) ? 'remove' : 'add']);
    default:
      return argument;
  }
}

function stopsWatching(name: string, values: Arguments): boolean {
  return name === 'watch' && listOf(values['add']) === undefined && listOf(values['remove']) !== undefined;
}

function listOf(value: unknown): string | undefined {
  return Array.isArray(value) ? value.flatMap((one) => nonEmptyText(one) ?? []).join(', ') || undefined : undefined;
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
  return name === 'run_command' ? nonEmptyText(values['command']) : undefined;
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function firstText(values: Arguments): string | undefined {
  return Object.values(values)
    .map(nonEmptyText)
    .find((text) => text !== undefined && text.length <= 80);
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  const cut = line.length > 200 ? line.slice(0, 200) : line;
  return cut.length < text.trim().length ? `${cut}…` : cut;
}
