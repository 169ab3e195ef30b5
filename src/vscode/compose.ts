// Wires the extension by hand: every port gets its implementation here. Each part has a composing function in
// `compose/`.
import type * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { Earshot } from '../core/earshot.ts';
import { KeepAlive } from '../core/keepAlive.ts';
import { type RemoteTasks } from '../core/ports/processes.ts';
import { Subagents } from '../core/subagents.ts';
import { Wakes } from '../core/wakes/wakes.ts';
import { readSurroundings } from '../node/files/surroundings.ts';
import { realFolders } from '../node/scripts/scriptSpool.ts';
import { processObserver } from '../node/processActivity.ts';
import { realClock } from '../node/realClock.ts';
import { realIds } from '../node/realIds.ts';
import { type WindowListener } from '../plugins/host/windowListener.ts';
import { createDebugProducer } from '../producers/debug/debug.ts';
import { createDevServersProducer } from '../producers/devServers/devServers.ts';
import { createFocusProducer } from '../producers/focus.ts';
import { createHandlesProducer } from '../producers/handles.ts';
import { createLines } from '../producers/lines/lines.ts';
import { createScripts } from '../producers/scripts/scripts.ts';
import { createMessagesProducer } from '../producers/messages.ts';
import { OpenPorts } from '../producers/ports/openPorts.ts';
import { createPortsProducer } from '../producers/ports/ports.ts';
import { createTasksProducer } from '../producers/tasks/tasks.ts';
import { createWakesProducer, probePort } from '../producers/wakes.ts';
import { createDiskEntries } from '../storage/checkpoints/diskEntries.ts';
import { createPdfReader } from '../tools/files/pdfText.ts';
import { type CommandHandlers } from './commands.ts';
import { composeAgents } from './compose/agents.ts';
import { type ComposedChat, composeChat, composeFrontends, composeView } from './compose/chat.ts';
import { composeClients, windowControls } from './compose/clients.ts';
import { composeCompletions } from './compose/completions.ts';
import { composeForge } from './compose/forge.ts';
import { composeHandles } from './compose/handles.ts';
import { composeHooks } from './compose/hooks.ts';
import { composeHub, offerMessageTools } from './compose/hub.ts';
import { type ComposedMcp, composeMcp } from './compose/mcp.ts';
import { composeModels } from './compose/models.ts';
import { composeNotifications } from './compose/notifications.ts';
import { composePlugins } from './compose/plugins.ts';
import { composeStorage } from './compose/storage.ts';
import { composeTools } from './compose/tools.ts';
import { type Window } from './compose/window.ts';
import { forgetRules } from './consent/alwaysRules.ts';
import { firstMinutes } from './firstMinutes.ts';
import { COMMANDS } from './ids.ts';
import { createLanguageTools } from './language/languageTools.ts';
import { type LazyTree } from './notifications/lazyTree.ts';
import { type NotificationNode } from './notifications/notificationsView.ts';
import { type Output } from './output.ts';
import { type PluginRows, type PluginsTree } from './plugins/pluginsTree.ts';
import { createProducers } from './producers.ts';
import { createBuffers } from './review/reviewBuffers.ts';
import { activeEditor } from './sources/activeEditor.ts';
import { editorDebugger } from './sources/debugger.ts';
import { ReviewController } from './review/reviewController.ts';
import { SettingsReader } from './settings.ts';
import { onDidChangeFiles } from './sources/fileChanges.ts';
import { type StatusBar } from './statusBar.ts';
import { editorTests, OfferedTests } from './tasks/editorTests.ts';
import { createRunTestsTool } from '../tools/commands/runTests.ts';
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
  const waiting = held.add(
    new WaitingApprovals({
      isChatVisible: () => view.visible,
      report: report('a question could not be shown'),
    }),
  );
  const window: Window = { context, logger, settings, waiting, held, report };
  const base = { clock: realClock, ids: realIds, logger };

  const workspace = createWorkspace();
  const buffers = held.add(createBuffers(workspace, logger));
  const storage = composeStorage(window, workspace);
  const { store, lock, snapshots, checkpoints, permissions, userFiles } = storage;
  const models = composeModels(window, () => chatting.choosing);
  const { model } = models;
  const current = () => settings.current;
  const subagents = new Subagents({
    ...{ ...base, store, settings: current, model, models: models.models },
    host: () => ({ earshot, handles, hold: (id, opened) => keepAlive.hold(id, opened) }),
  });
  const frontends = composeFrontends(window, model);
  const tasksOfServers: RemoteTasks = { reattach: (task) => mcp.tasks.reattach(task) };
  const keyOf = (conversation: string) => earshot.get(conversation)?.log.state.turn.key ?? '';
  const commands = composeHandles(window, storage.folderOf, tasksOfServers, subagents, keyOf);
  const { handles } = commands;
  const ports = new OpenPorts({ ...base, handles });
  const lines = createLines({ ...base, handles, workspace });
  const everyoneIsLive = Promise.withResolvers<void>();
  const scripts = createScripts({
    ...{ ...base, handles, ready: () => everyoneIsLive.promise },
    folders: () => realFolders(workspace.folders.map(({ absolute }) => absolute)),
    mayWake: () => settings.current['scripts.wake'],
  });
  const tasks = held.add(new EditorTasks(realClock, waiting, report('a task could not be followed')));
  const languages = held.add(createLanguageTools({ ...base, workspace }));
  const messaging = composeHub(window, workspace);
  const { hub } = messaging;

  const isSubagent = (id: string) => earshot.get(id)?.log.state.summary.subagent !== undefined;
  const forge = composeForge(window, workspace, (text) => frontends.notice('warning', text));
  const followed = {
    forge: forge.facts,
    handles,
    tasks,
    workspace,
    snapshots,
    problems: languages.facts,
    probe: probePort,
  };
  const wakes = held.add(new Wakes({ ...base, ...followed, due: store.due }));
  const earshot: Earshot = new Earshot({
    ...base,
    toolsReady: () => {
      offeredTests.refresh();
      return mcp.ports.toolsReady();
    },
    moreInstructions: () => mcp.ports.moreInstructions(),
    ...{ store, lock, snapshots, checkpoints, permissions, userFiles },
    ...{ workspace, buffers, onDidChangeFiles },
    frontend: frontends.all,
    notice: (text) => frontends.notice('warning', text),
    tools: composeTools({
      ...{ tasks, ofLanguages: languages.tools, userFiles, agents: subagents, wakes },
      readPdf: createPdfReader(context.asAbsolutePath('dist/pdfText.js')),
    }),
    producers: [
      ...createProducers({ ...base, snapshots, workspace, reports: () => settings.current['tests.reports'] }),
      createHandlesProducer({ ...base, handles, ended: lines.ended }),
      lines.producer,
      scripts.producer,
      createFocusProducer({
        ...{ editor: activeEditor, workspace },
        // A subagent is not where the user is.
        context: (id) => (isSubagent(id) ? 'off' : earshot.choices.of(id).settings.editorContext),
      }),
      createTasksProducer({ ...base, tasks }),
      createPortsProducer({ ...base, ports }),
      createDevServersProducer({ ...base, ports }),
      createDebugProducer({
        ...{ ...base, workspace, debugger: editorDebugger },
        mayShowLocals: () => settings.current['debug.locals'],
      }),
      createMessagesProducer({ ...base, hub }),
      createWakesProducer(wakes),
      forge.producer,
      languages.producer,
    ],
    problems: languages.problems,
    ...{ handles, subagents, hub, wakes },
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
  const offeredTests = held.add(new OfferedTests(earshot.tools, createRunTestsTool({ tests: editorTests })));
  const mcp: ComposedMcp = composeMcp(window, earshot, { workspace, snapshots }, (text) =>
    frontends.notice('info', text),
  );

  const keepAlive = held.add(new KeepAlive({ ...base, earshot, ...commands, wakes }));
  const entries = createDiskEntries(() => workspace.folders);
  const changes = { workspace, buffers, entries, snapshots, checkpoints };
  const controls = windowControls({
    ...{ earshot, models },
    completions: () => completing.completions,
    mute: (what) => notifications.mute(what),
  });
  const clients = composeClients(window, {
    ...{ earshot, keepAlive, handles, wakes, storage, hub, controls },
    frontends: frontends.all,
    files: changes,
    removed: (id) => {
      chat.page.forget(id);
      void forgetRules(permissions, id).catch(report('the rules of a conversation could not be removed'));
    },
  });
  const client = held.add(clients.as({ by: 'user' }));
  const chatting: ComposedChat = composeChat(window, {
    ...{ earshot, client, keepAlive, hub, frontends, storage, handles, workspace, statusBar, controls, wakes },
    editor: activeEditor,
  });
  const { chat, page } = chatting;
  const rewind = (conversation: string, request: string) => page.rewind(conversation, request);
  const review = held.add(
    new ReviewController({
      ...{ ...base, earshot, client, store, chat, keepAlive, rewind },
      ...{ files: changes, frontend: frontends.chat },
    }),
  );
  const notifications = composeNotifications(window, {
    ...{ earshot, client, store, chat, tree },
    showItem: (item) => view.showItem(item),
  });
  const completing = composeCompletions(window, {
    ...{ ...chatting, frontend: frontends.chat, userFiles, model, resources: () => mcp.resources() },
  });
  const { view, commands: ofView } = composeView(window, chatting, { ...review.handlers, ...completing.handlers });
  held.add(
    models.onDidChangeModels(() => {
      earshot.reconsider();
      page.refresh();
    }),
  );
  const agents = composeAgents(window, { hub, earshot, chat, reveal: () => view.reveal() });
  const plugins = composePlugins(window, {
    ...{ clients, storage, workspace, model, chat, scripts, handles, wakes },
    tree: pluginsTree,
    folderFacts: () => chatting.folder.facts,
    listener: windowListener,
  });
  const restored = chat.restore().finally(() => plugins.start().finally(everyoneIsLive.resolve));
  return {
    ready: Promise.all([restored, hub.refresh()]).then(() => undefined),
    earshot,
    commands: {
      [COMMANDS.showLog]: () => logger.show(),
      ...ofView,
      ...models.commands,
      ...review.commands,
      ...mcp.commands,
      ...messaging.commands,
      ...plugins.commands,
      ...agents.commands,
      ...notifications.commands,
      ...completing.commands,
      ...firstMinutes(view, page),
    },
    view,
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
