// The approval policy: decides by mode, trust, effect and touched files whether a call runs, needs approval, or is
// refused.
import { type FailureCode } from '../../base/failureCodes.ts';
import { defined } from '../../base/json/defined.ts';
import { printPath } from '../../base/printPath.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type Effect } from '../../protocol/tool.ts';
import { type TouchedServer } from '../ports/mcp.ts';
import { type Tool, type Touched } from '../ports/ports.ts';
import { type Permissions } from '../ports/storage.ts';
import { type InspectedTask } from '../ports/tasks.ts';
import { type Workspace } from '../ports/workspace.ts';
import { isLocalHost } from './addresses.ts';
import { isAllowed, parseCommand, pathsIn } from './commandLine.ts';
import { type Hidden, whyHidden } from './ignoreFile.ts';
import { whyProtected } from './protectedFiles.ts';
import { type ShellSyntax } from './shell/script.ts';

/** What an answer of *Always* allows: a rule to store, and a label for people. */
interface Always {
  readonly rule: string;
  readonly label: string;
  /** What *Always for This Server* allows. */
  readonly server?: { readonly rule: string; readonly label: string };
}

export type Verdict =
  | { readonly type: 'allowed'; readonly task?: InspectedTask | undefined }
  | { readonly type: 'refused'; readonly reason: string; readonly code: FailureCode }
  /** `letIn`: paths outside the workspace that approval would open. `names`: protected and hidden paths inside it. */
  | {
      readonly type: 'ask';
      readonly reason?: string;
      readonly note?: string;
      readonly always?: Always;
      readonly letIn: readonly string[];
      readonly names?: readonly string[];
      readonly task?: InspectedTask | undefined;
    };

export interface PolicyDeps {
  readonly conversation: string;
  readonly settings: Settings;
  readonly workspace: Workspace;
  readonly hidden: Hidden;
  readonly permissions: Permissions;
  readonly shell: ShellSyntax;
}

const PASSES: Readonly<Record<Settings['approvals.mode'], readonly Effect[]>> = {
  ask: [],
  reads: ['read'],
  edits: ['read', 'edit'],
  all: ['read', 'edit', 'execute'],
};

/** `args` as the tool's own `parse` let them through. */
export async function judge(deps: PolicyDeps, tool: Tool, args: unknown): Promise<Verdict> {
  const { settings, workspace } = deps;
  const { name } = tool.description;
  if (tool.inquires === true) return { type: 'allowed' };
  const effect = effectOf(tool, args);
  if (effect !== 'read') {
    if (settings.mode === 'plan')
      return refused('plan_mode', `${name} was not run: in Plan mode only calls that read are run.`);
    if (!workspace.trusted) {
      return refused(
        'untrusted',
        `${name} was not run: the workspace is not trusted, so Earshot only reads. The user can trust it.`,
      );
    }
  }
  const touched = tool.touches?.(args) ?? {};
  const named = touched.command === undefined ? undefined : pathsIn(touched.command, deps.shell);
  const sensitive = await findSensitive(deps, effect, touched, named?.paths ?? []);
  if (sensitive !== undefined) return { type: 'ask', ...sensitive };
  // A tool that changes files without naming them could change any file.
  const vague = effect === 'edit' && touched.paths === undefined;
  // What starts turns later needs the approval that running a command needs.
  const needed = touched.wakes === undefined ? effect : 'execute';
  const passes = !vague && PASSES[settings['approvals.mode']].includes(needed);
  const unclear = passes ? named?.unclear : undefined;
  const task = await tool.inspect?.(args);
  const ofTask = task !== undefined && { task };
  if (passes && unclear === undefined) return { type: 'allowed', ...ofTask };
  // The mode comes first: in `ask`, neither a rule nor the list of commands replaces the question.
  // The same line runs other code in another folder, so what was allowed for the first one does not hold there.
  const mayWiden = settings['approvals.mode'] !== 'ask' && touched.folder === undefined;
  const always = mayWiden ? alwaysFor(name, touched, task, deps.shell) : undefined;
  const isListed = mayWiden && isListedCommand(deps, touched, named?.unclear !== undefined);
  if (isListed || (await isPermitted(deps, always))) return { type: 'allowed', ...ofTask };
  const why = unclear === undefined ? touched.wakes : `it may lead outside the workspace: ${unclear}.`;
  const reason = why === undefined ? {} : { reason: why };
  const note = touched.server?.note ?? touched.note;
  const offered = { ...reason, ...defined({ note, always }) };
  return { type: 'ask', ...offered, ...ofTask, letIn: [] };
}

async function isPermitted({ permissions, conversation }: PolicyDeps, always: Always | undefined): Promise<boolean> {
  if (always === undefined) return false;
  const { rule, server } = always;
  return (
    (await permissions.has(rule, conversation)) ||
    (server !== undefined && (await permissions.has(server.rule, conversation)))
  );
}

/** Finds reasons that require approval in every mode, whatever was allowed before. */
async function findSensitive(
  deps: PolicyDeps,
  effect: Effect,
  touched: Touched,
  named: readonly string[],
): Promise<{ reason: string; letIn: readonly string[]; names?: readonly string[] } | undefined> {
  const reads = effect === 'read';
  const reasons: string[] = [];
  const letIn: string[] = [];
  const sensitive: string[] = [];
  const places = [
    ...(touched.paths ?? []).map((path) => [path, path] as const),
    ...named.map((path) => [path, fromShell(deps.workspace, path, touched.folder)] as const),
  ];
  for (const [path, place] of new Map(places)) {
    const file = path.startsWith('~') ? undefined : await deps.workspace.resolve(place);
    if (file === undefined || (!file.ok && file.failure.code === 'outside')) {
      reasons.push(`${path} is outside the workspace`);
      letIn.push(path);
    } else if (file.ok) {
      const names = [file.value.path, ...(file.value.real === undefined ? [] : [file.value.real])];
      const reason = names.map((name) => whySensitive(deps.hidden, name, reads)).find((why) => why !== undefined);
      if (reason === undefined) continue;
      reasons.push(reason);
      sensitive.push(...names);
    }
  }
  const host = touched.url === undefined ? undefined : hostOf(touched.url)?.hostname;
  if (host !== undefined && isLocalHost(host)) reasons.push(`${host} is this machine or the network around it`);
  if (reasons.length === 0) return undefined;
  return { reason: `${reasons.join('; ')}.`, letIn, ...(sensitive.length > 0 && { names: sensitive }) };
}

function whySensitive(hidden: Hidden, path: string, reads: boolean): string | undefined {
  return whyProtected(path, reads) ?? whyHidden(hidden, path);
}

/** A relative path is one in the folder that the command runs in, not another folder of the workspace with that name. */
function fromShell({ folders }: Workspace, path: string, folder: string | undefined): string {
  const isAbsolute = /^(?:[/\\]|[A-Za-z]:[\\/])/.test(path);
  const place = folders.find((one) => one.path === folder) ?? folders[0];
  return isAbsolute || folders.length < 2 ? path : `${place?.absolute ?? ''}/${path}`;
}

/** If it is unclear what a line touches, only an entry that equals the whole line allows it. */
function isListedCommand({ settings, shell }: PolicyDeps, { command }: Touched, unclear: boolean): boolean {
  const words = command === undefined ? undefined : parseCommand(command, shell);
  return words !== undefined && isAllowed(words, settings['approvals.commands'], shell, unclear);
}

/** Undefined if it is not a valid URL; the tool itself reports that. */
function hostOf(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/**
 * A command is remembered by its words if they are certain, otherwise by its exact text; a page by its origin; a task by
 * its fingerprint; anything else by its tool. Undefined: an approval covers only the one call.
 */
function alwaysFor(
  name: string,
  { command, task: taskName, url, server, onlyOnce }: Touched,
  task: InspectedTask | undefined,
  shell: ShellSyntax,
): Always | undefined {
  if (onlyOnce === true) return undefined;
  if (server !== undefined) return alwaysForServer(name, server);
  const origin = url === undefined ? undefined : hostOf(url)?.origin;
  if (origin !== undefined) return { rule: `url:${origin}`, label: origin };
  if (taskName !== undefined) return task?.isKnown === true ? alwaysForTask(task) : undefined;
  if (command === undefined) return { rule: `tool:${name}`, label: name };
  const words = parseCommand(command, shell);
  return { rule: words === undefined ? `line:${command}` : `words:${JSON.stringify(words)}`, label: command.trim() };
}

function alwaysForTask({ fingerprint, view }: InspectedTask): Always {
  const command = view.command ?? view.before.map(({ name }) => printPath(name)).join(', ');
  const place = view.folder === undefined ? '' : ` in ${printPath(view.folder)}`;
  return { rule: `task:${fingerprint}`, label: `the task ${printPath(view.name)}${place}: ${printPath(command)}` };
}

/** The rule contains the server's identity, so that it does not cover another program of the same name. */
function alwaysForServer(name: string, { name: label, identity, tool, alone }: TouchedServer): Always {
  const server = { rule: `mcp:${identity}`, label };
  return { rule: `mcp:${identity}:${tool}`, label: name, ...(alone !== true && { server }) };
}

function refused(code: FailureCode, reason: string): Verdict {
  return { type: 'refused', reason, code };
}

/** `args` as the tool's own `parse` let them through. */
export function effectOf(tool: Tool, args: unknown): Effect {
  return tool.effectFor?.(args) ?? tool.effect;
}
