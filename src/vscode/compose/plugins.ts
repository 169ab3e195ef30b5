// Composes program plugins. They are loaded after the chat, since nobody waits for them.
import { succeeded } from '../../base/errors.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type Frontends } from '../../core/frontend/frontends.ts';
import { type KeepAlive } from '../../core/keepAlive.ts';
import { Library } from '../../core/library.ts';
import { type Model } from '../../core/ports/ports.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { isAlive } from '../../node/kernelLock.ts';
import { realClock } from '../../node/realClock.ts';
import { realIds } from '../../node/realIds.ts';
import { type WindowListener } from '../../plugins/host/windowListener.ts';
import { type PluginPorts, type WindowControls } from '../../plugins/pluginPorts.ts';
import { type FolderFacts } from '../../protocol/page/folderView.ts';
import { type Chat } from '../chat/chatController.ts';
import { type CommandHandlers } from '../commands.ts';
import { type Completions } from '../completions/completions.ts';
import { type WindowHub } from '../hub/windowHub.ts';
import { COMMANDS } from '../ids.ts';
import { type PluginsController } from '../plugins/pluginsController.ts';
import { type PluginRows, type PluginsTree } from '../plugins/pluginsTree.ts';
import { type composeModels } from './models.ts';
import { type composeStorage } from './storage.ts';
import { type Window } from './window.ts';

interface PluginParts {
  readonly earshot: Earshot;
  readonly frontends: Frontends;
  readonly keepAlive: KeepAlive;
  readonly handles: Handles;
  readonly storage: ReturnType<typeof composeStorage>;
  readonly workspace: Workspace;
  readonly tree: Pick<PluginsTree, 'follow'>;
  model(): Model;
  folderFacts(): FolderFacts | undefined;
  readonly hub: WindowHub;
  readonly chat: Pick<Chat, 'shown' | 'newChat' | 'forget'>;
  readonly completions: Pick<Completions, 'listPortable'>;
  readonly models: Pick<ReturnType<typeof composeModels>, 'offered' | 'last'>;
  readonly listener: Promise<WindowListener | undefined>;
}

export function composePlugins({ context, logger, settings, waiting, held, report }: Window, parts: PluginParts) {
  const { earshot, frontends, keepAlive, handles, hub, tree, model, folderFacts, listener, workspace } = parts;
  const { store, lock, views, listeners, snapshots } = parts.storage;
  const base = { clock: realClock, ids: realIds, logger };
  let loading: Promise<PluginsController> | undefined;
  let closed = false;
  const load = () => {
    loading ??= import('../plugins/pluginsController.ts').then(({ PluginsController: Controller }) => {
      const library = libraryOf(parts, new Library({ ...base, store, lock, handles, hub }, earshot));
      const ports = { ...base, earshot, library, keepAlive, handles, frontends, store, lock, views, isAlive };
      const given = { ...ports, snapshots, controls: windowControls(parts), settings: () => settings.current };
      const listening = { ...listeners, snapshots, workspace };
      const controller = held.add(
        new Controller({
          ...{ context, listener, ports: given, waiting, model, folderFacts, listening },
          shown: () => parts.chat.shown,
        }),
      );
      tree.follow(controller);
      return controller;
    });
    return loading;
  };
  const start = async () => {
    const controller = await load();
    if (!closed) await controller.start();
  };
  const run = (name: keyof PluginsController['commands']) => async (item?: unknown) =>
    (await load()).commands[name](item);
  return {
    /** Never rejects: Earshot also works without plugins. */
    start: () => start().catch(report('program plugins could not be started')),
    rows: (): Promise<PluginRows> => load(),
    commands: {
      [COMMANDS.runPlugin]: run('run'),
      [COMMANDS.approvePlugin]: run('approve'),
      [COMMANDS.stopPlugin]: run('stop'),
      [COMMANDS.restartPlugin]: run('restart'),
      [COMMANDS.showPluginLog]: run('showLog'),
      [COMMANDS.openWebChat]: run('openWebChat'),
      [COMMANDS.installForAgents]: run('installForAgents'),
      [COMMANDS.removeFromAgents]: run('removeFromAgents'),
    } satisfies Partial<CommandHandlers>,
    close: async () => {
      closed = true;
      await (await loading)?.close();
    },
  };
}

/** If a plugin deletes the shown conversation, the chat starts a new one. */
function libraryOf({ chat }: PluginParts, library: Library): PluginPorts['library'] {
  return {
    rename: (id, title) => library.rename(id, title),
    fork: (id) => library.fork(id),
    forkBefore: (id, request) => library.forkBefore(id, request),
    remove: async (id) => {
      if (chat.shown === id) await chat.newChat();
      const removed = await library.remove(id);
      if (removed.ok) chat.forget(id);
      return removed;
    },
  };
}

function windowControls({ earshot, completions, models }: PluginParts): WindowControls {
  return {
    chosen: (conversation) => earshot.choices.of(conversation),
    models: async (conversation) => (await models.offered()).list(earshot.choices.of(conversation).settings.model),
    reference: async (id) => (await models.offered()).take(id),
    choose: async (choice, conversation) => {
      const live = conversation === undefined ? undefined : earshot.get(conversation);
      const chosen = live === undefined ? succeeded(undefined) : await earshot.choices.choose(live.log.id, choice);
      if (chosen.ok) await models.last.set(choice);
      return chosen;
    },
    complete: (trigger, query) => completions.listPortable(trigger, query),
  };
}
