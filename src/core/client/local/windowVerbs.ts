// The local verbs about the window and the workspace: models and modes, settings, completions, commands, changed files.
import { failed, type Result, succeeded } from '../../../base/errors.ts';
import { type VerbParams, type VerbResult } from '../../../protocol/client/verbs.ts';
import { type HandleView } from '../../../protocol/page/handlesView.ts';
import { type ChosenModel } from '../../../protocol/page/windowView.ts';
import { type RestoreDeps } from '../../checkpoints/restore.ts';
import { type Review } from '../../checkpoints/review.ts';
import { effortFor } from '../../conversation/choices.ts';
import { viewHandles } from '../../frontend/handleViews.ts';
import { type Handle } from '../../ports/handles.ts';
import { BY_USER } from '../../tools/handleTexts.ts';
import { type LocalPorts, type LocalVerbs } from './localPorts.ts';
import { whileOwned } from './owning.ts';

type WindowVerb =
  | ('mute' | 'choose' | 'list_models' | 'read_config' | 'complete')
  | ('list_commands' | 'stop_command' | 'write_command' | 'move_to_background')
  | ('keep' | 'undo' | 'restore' | 'revert');

const NOTHING = succeeded({});

export function createWindowVerbs(ports: LocalPorts): Pick<LocalVerbs, WindowVerb> {
  const { controls, handles } = ports;
  return {
    mute: async ({ mute }) => {
      if (controls.mute === undefined) return failed('plugin', 'The settings cannot be changed here.');
      await controls.mute(mute);
      return NOTHING;
    },
    choose: async ({ model: id, effort, mode, approvals, editor, conversation }) => {
      const model = id === undefined ? undefined : await controls.reference(id);
      if (id !== undefined && model === undefined)
        return failed('plugin', 'model: there is no such model. List the models again.');
      const chosen = await controls.choose({ model, effort, mode, approvals, editor }, conversation);
      return chosen.ok ? NOTHING : chosen;
    },
    list_models: async ({ all, conversation }) => {
      const data = all === true ? await controls.models(conversation) : [];
      const { model, choice, settings, alternatives } = controls.chosen(conversation);
      const { label, detail, contextWindow, efforts } = model;
      const current: ChosenModel = {
        label,
        detail,
        context_window: contextWindow,
        ...(efforts !== undefined && { efforts: [...efforts], effort: effortFor({ efforts }, choice) ?? 'auto' }),
        reference: settings.model,
        mode: settings.mode,
        approvals: settings['approvals.mode'],
        alternatives: [...alternatives()],
      };
      return succeeded({ current, data });
    },
    read_config: async ({ path }) => readConfig(ports.config(), path),
    complete: async ({ trigger, query }) => succeeded({ data: await controls.complete(trigger, query) }),
    list_commands: async ({ conversation }) => {
      const views = await viewHandles(handles.list(conversation));
      return succeeded({ data: views.map(toCommand) });
    },
    // In place of the user, so it is reported as stopped by the user.
    stop_command: (params) =>
      onCommand(ports, params, async (handle) => {
        await handle.stop(BY_USER);
        return NOTHING;
      }),
    write_command: (params) => onCommand(ports, params, (handle) => handle.write(`${params.input}\n`)),
    move_to_background: async ({ conversation, tool_call_id: call }) =>
      handles.moveToBackground(conversation, call) ? NOTHING : notRunning(),
    keep: (params) => review(ports, params, 'keep'),
    undo: (params) => review(ports, params, 'undo'),
    restore: ({ conversation, request, files }) =>
      whileOwned(ports, conversation, async () => {
        const { restoreFiles } = await import('../../checkpoints/restore.ts');
        return restoreFiles(await restoreDeps(ports, conversation), request, files);
      }),
    revert: ({ conversation, decision }) =>
      whileOwned(ports, conversation, async () => {
        const { revertDecision } = await import('../../checkpoints/restore.ts');
        return revertDecision(await restoreDeps(ports, conversation), decision);
      }),
  };
}

/** `path` is the name of a setting, or the common prefix of several, such as `notifications`. */
function readConfig(
  config: Readonly<Record<string, unknown>>,
  path: string | undefined,
): Result<VerbResult<'read_config'>> {
  if (path === undefined) return succeeded({ data: config });
  if (Object.hasOwn(config, path)) return succeeded({ path, data: config[path] });
  const below = Object.entries(config).filter(([name]) => name.startsWith(`${path}.`));
  if (below.length === 0) return failed('plugin', `path: there is no setting “${path.slice(0, 100)}”.`);
  return succeeded({
    path,
    data: Object.fromEntries(below.map(([name, value]) => [name.slice(path.length + 1), value])),
  });
}

/** Leaves out the subagent's data: it is a separate conversation. */
function toCommand({ call, agent: _agent, ...rest }: HandleView) {
  return { tool_call_id: call, ...rest };
}

function notRunning() {
  return failed('plugin', 'tool_call_id: no command of this call is running in this window.');
}

async function onCommand(
  { handles }: LocalPorts,
  { conversation, tool_call_id: call }: VerbParams<'stop_command'>,
  act: (handle: Handle) => Promise<Result<unknown>>,
): Promise<Result<VerbResult<'stop_command'>>> {
  const handle = handles.byRun(conversation, call);
  if (handle === undefined || handle.hasEnded) return notRunning();
  const done = await act(handle);
  return done.ok ? NOTHING : done;
}

async function review(
  ports: LocalPorts,
  { conversation, path, hunk, meanwhile }: VerbParams<'keep'>,
  action: 'keep' | 'undo',
): ReturnType<Review['keep']> {
  const isAll = path === undefined;
  // What others changed is undone only file by file.
  if (isAll && (hunk !== undefined || (meanwhile === true && action === 'undo')))
    return failed('plugin', 'path: missing.');
  return whileOwned(ports, conversation, async () => {
    const { Review: Loaded } = await import('../../checkpoints/review.ts');
    const changes = new Loaded(reviewDeps(ports, conversation), meanwhile === true ? 'meanwhile' : 'own');
    if (isAll || hunk === undefined) return changes[action](isAll ? undefined : [path]);
    return changes[`${action}Hunk`](path, hunk.version, hunk.index);
  });
}

function reviewDeps({ earshot, files, snapshots }: LocalPorts, conversation: string) {
  return { ...files, snapshots, live: () => earshot.get(conversation) };
}

async function restoreDeps(ports: LocalPorts, conversation: string): Promise<RestoreDeps> {
  const { Captures } = await import('../../checkpoints/captures.ts');
  const deps = reviewDeps(ports, conversation);
  const { checkpoints } = ports.files;
  const captures = () => {
    const log = deps.live()?.log;
    return log && checkpoints && new Captures({ ...ports, ...deps, checkpoints, log });
  };
  return { ...deps, captures };
}
