// Finds out what a task of the editor would run: its command, the tasks that it depends on, and a fingerprint of all
// that decides it.
import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { defined } from '../../base/json/defined.ts';
import { printWords } from '../../base/printPath.ts';
import { type InspectedTask } from '../../core/ports/tasks.ts';
import { type TaskFact, type TaskView } from '../../protocol/page/taskView.ts';
import { anySetting, userSetting, workspaceSetting } from '../configuration.ts';
import { workspaceTerminal } from './shell.ts';

type Values = Readonly<Record<string, unknown>>;
type Facts = TaskView['facts'];

/** `all`: the tasks that the editor lists now, among them those that it depends on. */
export function inspectTask(task: vscode.Task, all: readonly vscode.Task[]): InspectedTask {
  return inspectWith(task, all, []);
}

/** `above`: the tasks that depend on this one. */
function inspectWith(task: vscode.Task, all: readonly vscode.Task[], above: readonly vscode.Task[]): InspectedTask {
  const { name, source, scope, definition, detail, isBackground, execution } = task;
  const entries = entriesOf(task);
  const wanted = entries.flatMap(({ dependsOn }) => [dependsOn ?? []].flat() as unknown[]);
  const found = wanted.map((one) => all.filter((other) => isMeant(one, other, task)));
  const missing = wanted.filter((_, index) => found[index]?.length === 0);
  // The editor refuses to run tasks that depend on themselves.
  const needed = [...new Set(found.flat())].filter((other) => other !== task && !above.includes(other));
  const before = needed.map((other) => inspectWith(other, all, [...above, task]));

  const command = commandOf(task);
  const onlyOthers = execution === undefined && definition.type === '$composite' && wanted.length > 0;
  const unknown = command === undefined && !onlyOthers;
  const variables = variablesOf(task);
  const settings = unknown ? [] : terminalSettings();
  const facts: Facts = [
    ...(detail === undefined || detail === command ? [] : [fact('detail', detail)]),
    ...optionFacts(task),
    ...settings,
    ...variables.facts,
    ...missing.map((one) => fact('missing', typeof one === 'string' ? one : JSON.stringify(one))),
  ];
  const view: TaskView = {
    name: source === 'Workspace' || source === 'User' ? name : `${source}: ${name}`,
    ...(typeof scope === 'object' && { folder: scope.name }),
    ...defined({ command }),
    ...(unknown && { unknown }),
    facts,
    before: before.map((one) => one.view),
  };
  const { id: _changes, ...ofComposite } = definition;
  const decides = [
    ...[view, source, typeof scope === 'object' ? scope.uri.toString() : scope, isBackground],
    ...[definition.type === '$composite' ? ofComposite : definition, rawExecution(execution), entries],
    ...[variables.inputs, before.map(({ fingerprint }) => fingerprint)],
  ];
  return {
    view,
    fingerprint: createHash('sha256').update(JSON.stringify(decides)).digest('hex'),
    isKnown: !unknown && missing.length === 0 && variables.isKnown && before.every((one) => one.isKnown),
  };
}

function fact(kind: TaskFact, text: string): Facts[number] {
  return { fact: kind, text };
}

/** What the settings say about the task: all entries with its name, since the API does not tell which one it is. */
function entriesOf({ name, scope, definition }: vscode.Task): readonly Values[] {
  return configured(scope, 'tasks').filter((entry) => {
    const label = entry['label'] ?? entry['taskName'];
    return label === undefined ? hasDefinition(entry, definition) : label === name;
  });
}

function configured(scope: vscode.Task['scope'], key: 'tasks' | 'inputs'): readonly Values[] {
  const inFolder = typeof scope === 'object' ? scope.uri : undefined;
  const lists = [workspaceSetting(`tasks.${key}`, inFolder), userSetting(`tasks.${key}`)];
  return lists.flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []));
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null;
}

function hasDefinition(wanted: Values, definition: vscode.TaskDefinition): boolean {
  const keys = Object.keys(definition);
  return keys.length > 1 && keys.every((key) => wanted[key] === (definition as Values)[key]);
}

/** Whether an entry of `dependsOn` means this task. */
function isMeant(wanted: unknown, other: vscode.Task, task: vscode.Task): boolean {
  const place = ({ scope }: vscode.Task) => (typeof scope === 'object' ? scope.uri.toString() : undefined);
  const folder = place(other);
  if (folder !== undefined && place(task) !== undefined && folder !== place(task)) return false;
  if (isObject(wanted)) {
    return Object.entries(wanted).every(([key, value]) => (other.definition as Values)[key] === value);
  }
  return wanted === other.name || wanted === `${other.source}: ${other.name}`;
}

/** Undefined if an extension runs it by itself, or nothing runs. */
function commandOf(task: vscode.Task): string | undefined {
  const { execution } = task;
  const text = (value: string) => resolveVariables(value, task.scope);
  if (execution instanceof vscode.ProcessExecution) {
    return printWords([execution.process, ...execution.args].map(text));
  }
  if (!(execution instanceof vscode.ShellExecution)) return undefined;
  const { command, commandLine, args = [] } = execution;
  if (commandLine !== undefined) return text(commandLine);
  const program = command === undefined ? '' : wordOf(command);
  return [text(program), printWords(args.map(wordOf).map(text))].filter((part) => part !== '').join(' ');
}

function wordOf(word: string | vscode.ShellQuotedString): string {
  return typeof word === 'string' ? word : word.value;
}

function optionFacts({ execution, scope }: vscode.Task): Facts {
  if (!(execution instanceof vscode.ProcessExecution || execution instanceof vscode.ShellExecution)) return [];
  const { options } = execution;
  const text = (value: string) => resolveVariables(value, scope);
  const { executable, shellArgs = [] }: vscode.ShellExecutionOptions = options ?? {};
  return [
    ...(executable === undefined ? [] : [fact('shell', printWords([executable, ...shellArgs].map(text)))]),
    ...(options?.cwd === undefined ? [] : [fact('cwd', text(options.cwd))]),
    ...Object.entries(options?.env ?? {}).map(([name, value]) => fact('environment', `${name}=${text(value)}`)),
  ];
}

/** Terminal settings of the workspace: they decide which shell runs a task, and in which environment. */
function terminalSettings(): Facts {
  return Object.entries(workspaceTerminal()).map(([name, value]) =>
    fact('setting', `${name}: ${JSON.stringify(value)}`),
  );
}

function rawExecution(execution: vscode.Task['execution']): unknown {
  if (execution instanceof vscode.ProcessExecution) {
    return ['process', execution.process, execution.args, execution.options];
  }
  if (!(execution instanceof vscode.ShellExecution)) return undefined;
  return ['shell', execution.commandLine, execution.command, execution.args, execution.options];
}

/** The variables that are replaced by an answer of the user or by the result of an editor command. */
function variablesOf({ execution, scope }: vscode.Task): { facts: Facts; inputs: readonly Values[]; isKnown: boolean } {
  const text = JSON.stringify(rawExecution(execution) ?? '');
  const named = (kind: string) => {
    const names = [...text.matchAll(/\$\{(input|command):([^}"]{1,200})\}/g)];
    return [...new Set(names.filter(([, found]) => found === kind).map(([, , name = '']) => name))];
  };
  const wanted = named('input');
  const inputs = configured(scope, 'inputs').filter(({ id }) => wanted.includes(String(id)));
  const ofInputs = inputs.filter(({ type }) => type === 'command').map(({ command }) => String(command));
  const commands = [...named('command'), ...ofInputs];
  const asked = inputs.filter(({ type }) => type !== 'command');
  return {
    facts: [
      ...asked.map(({ id, description }) =>
        fact('input', typeof description === 'string' ? `${String(id)}: ${description}` : String(id)),
      ),
      ...commands.map((command) => fact('editor_command', command)),
    ],
    inputs,
    isKnown: commands.length === 0,
  };
}

/**
 * Replaces variables whose values the workspace decides. Values of the environment are not shown, since they may be
 * secrets; those of the active editor are not known before the task starts.
 */
function resolveVariables(text: string, scope: vscode.Task['scope']): string {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const own = typeof scope === 'object' ? scope : folders[0];
  return text.replaceAll(/\$\{(workspaceFolder|workspaceRoot|config)(?::([^}]{1,200}))?\}/g, (written, kind, name) => {
    if (kind === 'config') {
      const value = anySetting(String(name), own?.uri);
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? String(value)
        : written;
    }
    const folder = name === undefined ? own : folders.find((one) => one.name === name);
    return folder?.uri.fsPath ?? written;
  });
}
