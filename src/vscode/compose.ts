// All wiring, by hand: every port gets its implementation here and nowhere else.
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { Earshot } from '../core/earshot.ts';
import { KeepAlive } from '../core/keepAlive.ts';
import { Library } from '../core/library.ts';
import { Handles } from '../core/tools/handles.ts';
import { openEndpointMemory } from '../models/endpointMemory.ts';
import { realFileSystem } from '../node/fileSystem.ts';
import { processObserver } from '../node/processActivity.ts';
import { realClock } from '../node/realClock.ts';
import { realIds } from '../node/realIds.ts';
import { createSupervision, launchSupervisor } from '../node/supervision.ts';
import { createHandlesProducer } from '../producers/handles.ts';
import { createTasksProducer } from '../producers/tasks/tasks.ts';
import { createDiskEntries } from '../storage/checkpoints/diskEntries.ts';
import { createPermissions } from '../storage/permissions.ts';
import { createStorage } from '../storage/storage.ts';
import { createUserFiles } from '../storage/userFiles.ts';
import { askUserTool } from '../tools/askUser.ts';
import { awaitTool } from '../tools/commands/await.ts';
import { handleTool } from '../tools/commands/handle.ts';
import { runCommandTool } from '../tools/commands/runCommand.ts';
import { createRunTaskTool } from '../tools/commands/runTask.ts';
import { fileTools } from '../tools/files/fileTools.ts';
import { readNotificationsTool } from '../tools/readNotifications.ts';
import { watchTool } from '../tools/watch.ts';
import { HandlesController } from './chat/backgroundCommands.ts';
import { Chat } from './chat/chatController.ts';
import { ChatFrontend } from './chat/chatFrontend.ts';
import { ChatView } from './chat/chatView.ts';
import { Composing } from './chat/composing.ts';
import { conversationCommands } from './chat/conversationCommands.ts';
import { createDrafts } from './chat/drafts.ts';
import { TerminalMirrors } from './chat/terminalMirror.ts';
import { type CommandHandlers } from './commands.ts';
import { createLanguageTools } from './language/languageTools.ts';
import { LanguageModels } from './models/languageModels.ts';
import { createModelChooser } from './models/modelChooser.ts';
import { createApiKeys } from './models/secrets.ts';
import { type Output } from './output.ts';
import { createProducers } from './producers.ts';
import { createBuffers } from './review/reviewBuffers.ts';
import { ReviewController } from './review/reviewController.ts';
import { SettingsReader } from './settings.ts';
import { onDidChangeFiles } from './sources/fileChanges.ts';
import { type StatusBar } from './statusBar.ts';
import { EditorTasks } from './tasks/editorTasks.ts';
import { userShell } from './tasks/shell.ts';
import { createWorkspace } from './workspace/editorWorkspace.ts';

const CLEAN_UP_AFTER = 5 * 60_000;

/** What is there from the start of the window, before anything else is loaded. */
export interface Shell {
  readonly logger: Output;
  readonly statusBar: StatusBar;
}

export interface Composed extends Disposable {
  /** Resolves once the last conversation is taken up. */
  readonly ready: Promise<void>;
  readonly earshot: Earshot;
  readonly commands: CommandHandlers;
  readonly view: vscode.WebviewViewProvider;
  /** Ends every turn and closes every file. */
  close(): Promise<void>;
}

export function compose(context: vscode.ExtensionContext, { logger, statusBar }: Shell): Composed {
  const held = new DisposableStore();
  const report = (what: string) => (error: unknown) => logger.error(what, error);
  const settings = held.add(new SettingsReader());
  const workspace = createWorkspace();
  const buffers = held.add(createBuffers(workspace, logger));
  // With no folder open there is no workspace storage.
  const folder = (context.storageUri ?? context.globalStorageUri).fsPath;
  const { store, lock, snapshots, checkpoints, folderOf, cleanUp } = createStorage({
    files: realFileSystem,
    folder,
    index: {
      folder: context.globalStorageUri.fsPath,
      workspaceFolders: () => workspace.folders.map((one) => one.absolute),
    },
    clock: realClock,
    ids: realIds,
    logger,
    window: vscode.workspace.name ?? 'no folder',
  });
  const keys = createApiKeys(context.secrets);
  const globalFolder = context.globalStorageUri.fsPath;
  const memory = openEndpointMemory({ files: realFileSystem, folder: globalFolder, logger });
  const languageModels = held.add(
    new LanguageModels(context.languageModelAccessInformation, report('the models of VS Code could not be listed')),
  );
  const model = createModelChooser({ settings: () => settings.current, keys, memory, languageModels });
  const head = {
    version: versionOf(context),
    hostVersion: vscode.version,
    model: { label: model().label, detail: model().detail },
    title: '',
    running: false,
    canSend: true,
    pending: { count: 0, worst: null },
    heldBack: null,
    queued: [],
    attachments: [],
    meter: null,
    obstacles: [],
    todo: [],
    handles: [],
  };
  const tasks = held.add(new EditorTasks(realClock, report('a task could not be followed')));
  const frontend = held.add(new ChatFrontend(realClock, head, (error) => logger.error('a listener failed', error)));
  const supervision = createSupervision({
    launch: (place, env) => launchSupervisor(context.asAbsolutePath('dist/supervisor.cjs'), place, env),
    clock: realClock,
    report: (what, error) => logger.error(what, error),
    folderOf,
    userShell,
    unownedMilliseconds: () => settings.current['handles.ownerTimeout'] * 1000,
  });
  const handles = held.add(new Handles({ supervision, clock: realClock, logger }));
  const knowledge = held.add(createLanguageTools({ clock: realClock, logger, workspace }));
  const earshot = new Earshot({
    clock: realClock,
    ids: realIds,
    logger,
    store,
    lock,
    snapshots,
    checkpoints,
    workspace,
    buffers,
    frontend,
    problems: knowledge.problems,
    tools: [
      ...fileTools,
      ...[runCommandTool, watchTool, readNotificationsTool, askUserTool],
      ...knowledge.tools,
      ...[handleTool, awaitTool],
      createRunTaskTool({ tasks, clock: realClock }),
    ],
    producers: [
      ...createProducers({ clock: realClock, logger, snapshots, workspace }),
      createHandlesProducer({ handles, clock: realClock, logger }),
      createTasksProducer({ tasks, clock: realClock, logger }),
      knowledge.producer,
    ],
    handles,
    processes: processObserver,
    onDidChangeFiles,
    shell: () => userShell().shell.path,
    permissions: createPermissions({ files: realFileSystem, folder, logger }),
    userFiles: createUserFiles({ files: realFileSystem, folder: join(homedir(), '.earshot') }),
    notice: (text) => frontend.notice({ type: 'notice', id: realIds.ulid(), level: 'warning', text }),
    settings: () => settings.current,
    onDidChangeSettings: (listener) => settings.onDidChange(listener),
    model,
  });
  const entries = createDiskEntries(() => workspace.folders);
  const changed = {
    earshot,
    frontend,
    workspace,
    buffers,
    entries,
    snapshots,
    checkpoints,
    clock: realClock,
    logger: logger,
  };
  // The chat says how it is already while it is being made.
  let shown: () => string | undefined = () => undefined;
  const review = held.add(new ReviewController({ ...changed, shown: () => shown() }));
  const lingering = held.add(new KeepAlive({ earshot, handles, supervision, clock: realClock, logger }));
  const background = held.add(
    new HandlesController({
      handles,
      mirrors: held.add(new TerminalMirrors(report('a terminal could not be filled'))),
      frontend,
      clock: realClock,
      logger,
      shown: () => shown(),
      send: (text) => chat.handlers.send({ type: 'send', text }),
      notice: (text) => frontend.notice({ type: 'notice', id: realIds.ulid(), level: 'info', text }),
    }),
  );
  const drafts = createDrafts({ files: realFileSystem, folder, logger });
  const composing = new Composing({ drafts, snapshots, frontend, logger });
  const chat = held.add(
    new Chat({
      clock: realClock,
      earshot,
      lingering,
      frontend,
      store,
      workspace,
      settings,
      ids: realIds,
      readDiffs: async (changes) => (await import('./chat/callDiffs.ts')).readDiffs(snapshots, changes),
      composing,
      logger: logger,
      model,
      onStatus: (state) => {
        statusBar.update(state);
        review.chatChanged();
        background.chatChanged();
      },
    }),
  );
  shown = () => chat.shown;
  held.add(
    languageModels.onDidChange(() => {
      earshot.reconsider();
      chat.refresh();
    }),
  );
  const library = new Library({ store, lock, clock: realClock, ids: realIds, handles }, earshot);
  const modelCommands = {
    settings: () => settings.current,
    keys,
    languageModels,
    report: (error: unknown) => logger.error('a message could not be shown', error),
  };
  const view = held.add(
    new ChatView({
      extension: context.extensionUri,
      frontend,
      handlers: { ...chat.handlers, ...review.handlers, ...background.handlers },
      logger,
      onFreshPage: () => void composing.restoreText().catch(report('the draft cannot be given back')),
    }),
  );
  const commands: CommandHandlers = {
    'earshot.openChat': () => view.reveal(),
    'earshot.newChat': async () => {
      await Promise.all([view.reveal(), chat.newChat()]);
    },
    'earshot.stop': () => chat.stop(),
    'earshot.deliverNow': () => chat.deliverNow(),
    'earshot.showLog': () => logger.show(),
    'earshot.chooseModel': async () => (await import('./models/modelCommands.ts')).chooseModel(modelCommands),
    'earshot.setApiKey': async () => (await import('./models/modelCommands.ts')).setApiKey(modelCommands),
    ...conversationCommands({ library, store, clock: realClock, chat, reveal: () => view.reveal() }),
    ...review.commands,
  };
  // Long after the start, and never in anybody's way.
  held.add(realClock.after(CLEAN_UP_AFTER, () => void cleanUp().catch(report('the clean-up failed'))));
  return {
    ready: composing.restore().then(() => chat.restore()),
    earshot,
    commands,
    view,
    close: async () => {
      await earshot.shutDown();
      await checkpoints.close();
    },
    dispose: () => held.dispose(),
  };
}

function versionOf(context: vscode.ExtensionContext): string {
  const { version } = context.extension.packageJSON as { version?: unknown };
  return typeof version === 'string' ? version : '';
}
