// Wires the extension by hand: every port gets its implementation here. Each part has a composing function in
// `compose/`.
import type * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { Earshot } from '../core/earshot.ts';
import { Subagents } from '../core/subagents.ts';
import { readSurroundings } from '../node/files/surroundings.ts';
import { processObserver } from '../node/processActivity.ts';
import { realClock } from '../node/realClock.ts';
import { realIds } from '../node/realIds.ts';
import { type WindowListener } from '../plugins/host/windowListener.ts';
import { createHandlesProducer } from '../producers/handles.ts';
import { createMessagesProducer } from '../producers/messages.ts';
import { createTasksProducer } from '../producers/tasks/tasks.ts';
import { createDiskEntries } from '../storage/checkpoints/diskEntries.ts';
import { createPdfReader } from '../tools/files/pdfText.ts';
import { type CommandHandlers } from './commands.ts';
import { composeAgents } from './compose/agents.ts';
import { composeChat, composeFrontends, composeView } from './compose/chat.ts';
import { composeCompletions } from './compose/completions.ts';
import { composeHandles } from './compose/handles.ts';
import { composeHooks } from './compose/hooks.ts';
import { composeHub, offerMessageTools } from './compose/hub.ts';
import { composeMcp } from './compose/mcp.ts';
import { composeModels } from './compose/models.ts';
import { composeNotifications } from './compose/notifications.ts';
import { composePlugins } from './compose/plugins.ts';
import { composeStorage } from './compose/storage.ts';
import { composeTools } from './compose/tools.ts';
import { type Window } from './compose/window.ts';
import { firstMinutes } from './firstMinutes.ts';
import { COMMANDS } from './ids.ts';
import { createLanguageTools } from './language/languageTools.ts';
import { type LazyTree } from './notifications/lazyTree.ts';
import { type NotificationNode } from './notifications/notificationsView.ts';
import { type Output } from './output.ts';
import { type PluginRows, type PluginsTree } from './plugins/pluginsTree.ts';
import { createProducers } from './producers.ts';
import { createBuffers } from './review/reviewBuffers.ts';
import { ReviewController } from './review/reviewController.ts';
import { SettingsReader } from './settings.ts';
import { onDidChangeFiles } from './sources/fileChanges.ts';
import { type StatusBar } from './statusBar.ts';
import { EditorTasks } from './tasks/editorTasks.ts';
import { userShell } from './tasks/shell.ts';
import { WaitingApprovals } from './waitingApprovals.ts';
import { createWorkspace } from './workspace/editorWorkspace.ts';

/** The parts that exist from activation on, before anything else is loaded. */
export interface Shell {
  readonly logger: Output;
  readonly statusBar: StatusBar;
  readonly pluginsTree: Pick<PluginsTree, 'follow'>;
  /** Outside programs attach to it; undefined without a folder, or if it cannot be opened. */
  readonly windowListener: Promise<WindowListener | undefined>;
  readonly notifications: LazyTree<NotificationNode>;
}

export interface Composed extends Disposable {
  /** Resolves once the newest conversation is shown, the hub is joined and program plugins can attach. */
  readonly ready: Promise<void>;
  readonly earshot: Earshot;
  readonly commands: CommandHandlers;
  readonly view: vscode.WebviewViewProvider;
  /** The rows of the Program Plugins view. */
  pluginRows(): Promise<PluginRows>;
  /** Ends every turn and closes every file. */
  close(): Promise<void>;
}

export function compose(
  context: vscode.ExtensionContext,
  { logger, statusBar, pluginsTree, windowListener, notifications: tree }: Shell,
): Composed {
  const held = new DisposableStore();
  const settings = held.add(new SettingsReader());
  const report = (what: string) => (error: unknown) => logger.error(what, error);
  const waiting = held.add(new WaitingApprovals(report('a question could not be shown')));
  const window: Window = { context, logger, settings, waiting, held, report };
  const base = { clock: realClock, ids: realIds, logger };

  const workspace = createWorkspace();
  const buffers = held.add(createBuffers(workspace, logger));
  const storage = composeStorage(window, workspace);
  const { store, lock, snapshots, checkpoints, permissions, userFiles } = storage;
  const models = composeModels(window);
  const { model } = models;
  const current = () => settings.current;
  const subagents = new Subagents({ ...base, store, settings: current, model, models: models.models });
  const frontends = composeFrontends(window, model);
  const mcp = composeMcp(window, workspace, (text) => frontends.notice('info', text));
  const commands = composeHandles(window, storage.folderOf, mcp.tasks, subagents);
  const { handles } = commands;
  const tasks = held.add(new EditorTasks(realClock, report('a task could not be followed')));
  const languages = held.add(createLanguageTools({ ...base, workspace }));
  const messaging = composeHub(window, workspace);
  const { hub } = messaging;

  const earshot = new Earshot({
    ...base,
    ...mcp.ports,
    ...{ store, lock, snapshots, checkpoints, permissions, userFiles },
    ...{ workspace, buffers, onDidChangeFiles },
    frontend: frontends.all,
    notice: (text) => frontends.notice('warning', text),
    tools: composeTools({
      ...{ tasks, ofLanguages: languages.tools, userFiles, agents: subagents },
      readPdf: createPdfReader(context.asAbsolutePath('dist/pdfText.js')),
    }),
    producers: [
      ...createProducers({ ...base, snapshots, workspace }),
      createHandlesProducer({ ...base, handles }),
      createTasksProducer({ ...base, tasks }),
      createMessagesProducer({ ...base, hub }),
      languages.producer,
    ],
    problems: languages.problems,
    ...{ handles, subagents, hub },
    hooks: composeHooks(window, (text) => frontends.notice('info', text)),
    processes: processObserver,
    shell: () => userShell().shell.path,
    surroundings: () => readSurroundings(workspace.folders[0]?.absolute),
    settings: current,
    onDidChangeSettings: (listener) => settings.onDidChange(listener),
    limits: () => settings.limits,
    model,
    models: models.models,
    firstChoice: () => models.last.current,
  });

  offerMessageTools(window, messaging, earshot);
  mcp.start(earshot);

  const chatting = composeChat(window, { earshot, hub, frontends, storage, commands, workspace, statusBar, models });
  models.attach(chatting.choosing);
  const { chat, keepAlive, rewind } = chatting;
  subagents.attach({ earshot, handles, hold: (id, opened) => keepAlive.hold(id, opened) });
  const entries = createDiskEntries(() => workspace.folders);
  const changes = { workspace, buffers, entries, snapshots, checkpoints };
  const review = held.add(
    new ReviewController({ ...base, ...changes, earshot, chat, keepAlive, rewind, frontend: frontends.chat }),
  );
  const notifications = composeNotifications(window, { earshot, store, chat, tree });
  const completing = composeCompletions(window, { ...chatting, userFiles, model, resources: () => mcp.resources() });
  const ofPage = { ...review.handlers, ...notifications.handlers, ...completing.handlers };
  const page = composeView(window, chatting, ofPage);
  held.add(
    models.onDidChangeModels(() => {
      earshot.reconsider();
      chat.refresh();
    }),
  );
  const agents = composeAgents(window, { hub, earshot, chat, reveal: () => page.view.reveal() });
  const plugins = composePlugins(window, {
    earshot,
    frontends: frontends.all,
    keepAlive,
    handles,
    storage,
    workspace,
    tree: pluginsTree,
    model,
    folderFacts: () => chatting.folder.facts,
    ...{ hub, chat },
    completions: completing.completions,
    models,
    listener: windowListener,
  });
  return {
    ready: Promise.all([chatting.restore().finally(() => plugins.start()), hub.refresh()]).then(() => undefined),
    earshot,
    commands: {
      [COMMANDS.showLog]: () => logger.show(),
      ...page.commands,
      ...models.commands,
      ...review.commands,
      ...mcp.commands,
      ...messaging.commands,
      ...plugins.commands,
      ...agents.commands,
      ...notifications.commands,
      ...completing.commands,
      ...firstMinutes(page.view, chat),
    },
    view: page.view,
    pluginRows: () => plugins.rows(),
    close: async () => {
      // A plugin or a server that is slow to end must not keep the logs open.
      await Promise.all([plugins.close(), mcp.close(), earshot.shutDown()]);
      await hub.close();
      await checkpoints.close();
    },
    dispose: () => held.dispose(),
  };
}
