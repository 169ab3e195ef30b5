// The commands by which users install, remove, examine and end `earshot-ears`.
import { join, sep } from 'node:path';
import { describeFailure, type Result } from '../../base/errors.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { socketHome } from '../../node/hubFolder.ts';
import { nodeCommand } from '../../node/scripts/nodeCommand.ts';
import { earsState, endEars, folderToWatch, readEarsProgram, recordEarsProgram } from '../../plugins/client/ears.ts';
import { findSockets } from '../../plugins/client/windowSockets.ts';
import { HookInstaller } from '../../plugins/hook/hookInstaller.ts';
import { AGENT_NAMES, type HookedAgent, type HookTarget } from '../../plugins/hook/hookTargets.ts';
import { createEarsApprovals } from '../../plugins/host/approvedPrograms.ts';
import { listenKey } from '../../plugins/host/consent.ts';

interface CommandDeps {
  readonly home: string;
  /** The folder of the built programs. */
  readonly programs: string;
  /** Only this folder; absent: the user's settings, for all folders. */
  readonly folder: string | undefined;
  readonly logger: Logger;
  print(text: string): void;
}

const ONLY_IN_EDITOR =
  'Without an editor there are no notifications of problems (diagnostics), unsaved changes, tasks of VS Code, terminals and the debugger.';
const NPX =
  'npx may remove this copy of earshot-ears at any time. Install it with npm install -g earshot-ears, then run this again.';
const NEXT: Readonly<Partial<Record<HookedAgent, string>>> = {
  codex: 'Codex runs the hook only after you trust it: start Codex, enter /hooks and trust the new hook.',
  'claude-code': 'Notifications that may wake an idle session start its next turn, at most five in a row.',
};

export async function install(deps: CommandDeps, agents: readonly string[]): Promise<number> {
  return change(deps, agents, 'install');
}

export async function remove(deps: CommandDeps, agents: readonly string[]): Promise<number> {
  return change(deps, agents, 'remove');
}

async function change(deps: CommandDeps, given: readonly string[], action: 'install' | 'remove'): Promise<number> {
  const agents = given.filter((one): one is HookedAgent => Object.hasOwn(AGENT_NAMES, one));
  const unknown = given.find((one) => !Object.hasOwn(AGENT_NAMES, one));
  if (unknown !== undefined || agents.length === 0) {
    deps.print(
      `Name the agents: ${Object.keys(AGENT_NAMES).join(', ')}.${unknown ? ` There is no “${unknown}”.` : ''}`,
    );
    return 2;
  }
  const installer = await createInstaller(deps, deps.folder);
  const scope = deps.folder === undefined ? 'user' : 'folder';
  if (action === 'install') {
    await recordEarsProgram({ node: process.execPath, program: join(deps.programs, 'ears.js') });
    const copied = await installer.copyProgram();
    if (!copied.ok) return complain(deps, copied);
    if (deps.programs.includes(`${sep}_npx${sep}`)) deps.print(NPX);
  }
  let code = 0;
  for (const agent of agents) code = Math.max(code, await changeOne(deps, installer, { agent, scope, action }));
  return code;
}

interface OneChange {
  readonly agent: HookedAgent;
  readonly scope: HookTarget['scope'];
  readonly action: 'install' | 'remove';
}

async function changeOne(
  deps: CommandDeps,
  installer: HookInstaller,
  { agent, scope, action }: OneChange,
): Promise<number> {
  const name = AGENT_NAMES[agent];
  const target = installer.targets.find((one) => one.agent === agent && one.scope === scope);
  if (target === undefined) {
    deps.print(`${name}: its hooks are for all folders. Leave --folder out.`);
    return 2;
  }
  const planned = await installer.plan(target, action);
  if (!planned.ok) return complain(deps, planned);
  const applied = await installer.apply(planned.value);
  if (!applied.ok) return complain(deps, applied);
  const { before, after } = planned.value;
  if (action === 'install') await createEarsApprovals(socketHome(), deps.logger).add(listenKey(agent));
  if (before === after) deps.print(`${name}: ${action === 'install' ? 'is installed already' : 'was not installed'}.`);
  else deps.print(`${name}: ${action === 'install' ? 'installed in' : 'removed from'} ${target.file}.`);
  if (action === 'install' && NEXT[agent] !== undefined) deps.print(`  ${NEXT[agent]}`);
  return 0;
}

export async function showStatus(deps: CommandDeps, dir: string): Promise<number> {
  const { print } = deps;
  const program = await readEarsProgram();
  print(program === undefined ? 'earshot-ears is not installed for hooks.' : `Hooks start ${program.program}.`);
  const installer = await createInstaller(deps, folderToWatch(dir) ?? dir);
  const installed = await installer.installed();
  for (const target of installer.targets) {
    if (!installed.includes(target)) continue;
    const run = await installer.lastRun(target);
    const ran = run === undefined ? 'has never run' : `last run ${run.toISOString()}`;
    print(`${AGENT_NAMES[target.agent]}: installed in ${target.file}, ${ran}.`);
  }
  const missing = Object.entries(AGENT_NAMES).filter(([agent]) => !installed.some((one) => one.agent === agent));
  if (missing.length > 0) print(`Not installed: ${missing.map(([, name]) => name).join(', ')}.`);
  await describeWatcher(deps, dir);
  return 0;
}

async function describeWatcher({ print }: CommandDeps, dir: string): Promise<void> {
  for (const found of await findSockets(dir)) {
    if (found.isEars !== true) {
      print(`A window of VS Code watches ${found.root}: agents get everything that the editor knows.`);
      return;
    }
    const state = await earsState(found);
    if (state === undefined) continue;
    const agents = state.agents.length === 0 ? 'no agent' : state.agents.join(', ');
    print(`earshot-ears (process ${state.pid}) watches ${state.root} since ${state.since}, for ${agents}.`);
    for (const problem of state.problems ?? []) print(`Problem: ${problem}`);
    print(ONLY_IN_EDITOR);
    return;
  }
  const root = folderToWatch(dir);
  if (root === undefined)
    print(`Nobody watches ${dir}: a home folder or a whole disk is too much. Start the agent in a project.`);
  else print(`Nobody watches ${root} now; the next hook there starts earshot-ears.\n${ONLY_IN_EDITOR}`);
}

export async function stop({ print }: CommandDeps, dir: string): Promise<number> {
  const [found] = await findSockets(dir);
  const ended = found === undefined ? 0 : await endEars(found.root);
  print(ended === 0 ? `earshot-ears does not watch ${dir}.` : `earshot-ears no longer watches ${found?.root ?? dir}.`);
  return 0;
}

async function createInstaller({ home, programs }: CommandDeps, folder: string | undefined): Promise<HookInstaller> {
  return new HookInstaller({
    ...{ home, folder, node: await nodeCommand() },
    program: join(programs, 'notifications-hook.js'),
  });
}

function complain({ print }: CommandDeps, failure: Extract<Result<unknown>, { ok: false }>): number {
  print(describeFailure(failure.failure));
  return 1;
}
