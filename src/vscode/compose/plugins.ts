// Composes program plugins. They are loaded after the chat, since nobody waits for them.
import { type LocalClients } from '../../core/client/local/localClient.ts';
import { type Model } from '../../core/ports/ports.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type Handles } from '../../core/tools/handles.ts';
import { type Wakes } from '../../core/wakes/wakes.ts';
import { type WindowListener } from '../../plugins/host/windowListener.ts';
import { type Scripts } from '../../producers/scripts/scripts.ts';
import { type FolderFacts } from '../../protocol/page/folderView.ts';
import { type Chat } from '../chat/chatController.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS } from '../ids.ts';
import { type PluginsController } from '../plugins/pluginsController.ts';
import { type PluginRows, type PluginsTree } from '../plugins/pluginsTree.ts';
import { type composeStorage } from './storage.ts';
import { type Window } from './window.ts';

interface PluginParts {
  readonly clients: LocalClients;
  readonly storage: ReturnType<typeof composeStorage>;
  readonly workspace: Workspace;
  readonly handles: Handles;
  readonly wakes: Wakes;
  readonly scripts: Pick<Scripts, 'taken'>;
  readonly tree: Pick<PluginsTree, 'follow'>;
  model(): Model;
  folderFacts(): FolderFacts | undefined;
  readonly chat: Pick<Chat, 'shown'>;
  readonly listener: Promise<WindowListener | undefined>;
}

export function composePlugins({ context, waiting, held, report }: Window, parts: PluginParts) {
  const { clients, tree, model, folderFacts, listener, workspace, handles, wakes } = parts;
  const { listenersIn, snapshots } = parts.storage;
  let loading: Promise<PluginsController> | undefined;
  let closed = false;
  const load = () => {
    loading ??= import('../plugins/pluginsController.ts').then(({ PluginsController: Controller }) => {
      const listening = { listenersIn, snapshots, workspace, handles, wakes };
      const controller = held.add(
        new Controller({
          ...{ context, listener, clients, waiting, model, folderFacts, listening },
          shown: () => parts.chat.shown,
          spooled: (id) => parts.scripts.taken(id),
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
