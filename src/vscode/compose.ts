// All wiring, by hand: every port gets its implementation here and nowhere else.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { Earshot } from '../core/earshot.ts';
import { type Model } from '../core/ports.ts';
import { createGuideModel } from '../models/guide.ts';
import { createOpenAiModel } from '../models/openai.ts';
import { realFileSystem } from '../node/fileSystem.ts';
import { realClock } from '../node/realClock.ts';
import { realIds } from '../node/realIds.ts';
import { createFilesProducer } from '../producers/files.ts';
import { type Settings } from '../protocol/settings.ts';
import { createSnapshots } from '../storage/snapshots.ts';
import { createStore } from '../storage/store.ts';
import { listFilesTool } from '../tools/listFiles.ts';
import { readFileTool } from '../tools/readFile.ts';
import { runCommandTool } from '../tools/runCommand.ts';
import { Chat } from './chat.ts';
import { ChatFrontend } from './chatFrontend.ts';
import { ChatView } from './chatView.ts';
import { registerCommands } from './commands.ts';
import { createOutput } from './output.ts';
import { createApiKeys } from './secrets.ts';
import { SettingsReader } from './settings.ts';
import { StatusBar } from './statusBar.ts';
import { createWorkspace } from './workspace.ts';

export interface Composed extends Disposable {
  /** Resolves once the last conversation is taken up. */
  readonly ready: Promise<void>;
  /** Ends every turn and closes every file. */
  close(): Promise<void>;
}

export function compose(context: vscode.ExtensionContext): Composed {
  const held = new DisposableStore();
  const log = held.add(createOutput());
  const settings = held.add(new SettingsReader());
  const workspace = createWorkspace();
  // With no folder open there is no workspace storage.
  const folder = (context.storageUri ?? context.globalStorageUri).fsPath;
  const store = createStore({ files: realFileSystem, folder, log });
  const snapshots = createSnapshots({ files: realFileSystem, folder });
  const apiKeys = createApiKeys(context.secrets);
  const model = createModelChooser(() => settings.current, apiKeys);
  const head = {
    version: versionOf(context),
    hostVersion: vscode.version,
    model: { label: model().label, detail: model().detail },
    title: '',
    running: false,
    canSend: true,
    pending: { count: 0, worst: null },
    obstacles: [],
  };
  const frontend = held.add(new ChatFrontend(realClock, head, (error) => log.error('a listener failed', error)));
  const earshot = new Earshot({
    clock: realClock,
    ids: realIds,
    log,
    store,
    snapshots,
    workspace,
    frontend,
    tools: [readFileTool, listFilesTool, runCommandTool],
    producers: [createFilesProducer({ clock: realClock, log, snapshots, workspace })],
    settings: () => settings.current,
    model,
  });
  const statusBar = held.add(new StatusBar());
  const chat = held.add(
    new Chat({
      earshot,
      frontend,
      store,
      workspace,
      settings,
      ids: realIds,
      log,
      model,
      onStatus: (state) => statusBar.update(state),
    }),
  );
  held.add(new ChatView({ extension: context.extensionUri, frontend, handlers: chat.handlers, log }));
  held.add(
    registerCommands({
      'earshot.openChat': async () => {
        await vscode.commands.executeCommand('earshot.chat.focus');
        frontend.focusComposer();
      },
      'earshot.newChat': () => chat.newChat(),
      'earshot.stop': () => chat.stop(),
      'earshot.showLog': () => log.show(),
    }),
  );
  return {
    ready: chat.restore(),
    close: () => earshot.shutDown(),
    dispose: () => held.dispose(),
  };
}

/** A new model only when the settings that name it change. */
function createModelChooser(
  settings: () => Settings,
  apiKey: (baseUrl: string) => Promise<string | undefined>,
): () => Model {
  const guide = createGuideModel();
  let last: { name: string; model: Model } | undefined;
  return () => {
    const { baseUrl, model } = settings();
    if (baseUrl === '' || model === '') return guide;
    const name = JSON.stringify([baseUrl, model]);
    if (last?.name !== name) {
      last = { name, model: createOpenAiModel({ baseUrl, model, apiKey: () => apiKey(baseUrl) }) };
    }
    return last.model;
  };
}

function versionOf(context: vscode.ExtensionContext): string {
  const { version } = context.extension.packageJSON as { version?: unknown };
  return typeof version === 'string' ? version : '';
}
