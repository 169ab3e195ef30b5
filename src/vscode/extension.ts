// The activation of the extension: registers commands, the view and the status bar, and loads the rest on first use.
import * as vscode from 'vscode';
import { ignore } from '../base/async.ts';
import { setDisposableTracker } from '../base/disposable.ts';
import { type Earshot } from '../core/earshot.ts';
import { type WindowListener, type WindowListenerDeps } from '../plugins/host/windowListener.ts';
import { mayHaveConversations } from '../storage/folderIndex.ts';
import { registerCommands } from './commands.ts';
import { problemActions } from './completions/editorCommands.ts';
import { type Composed, type Shell } from './compose.ts';
import { anySetting } from './configuration.ts';
import { CHAT_VIEW, NOTIFICATIONS_VIEW, PLUGINS_VIEW } from './ids.ts';
import { LazyTree } from './notifications/lazyTree.ts';
import { type NotificationNode } from './notifications/notificationsView.ts';
import { createOutput } from './output.ts';
import { PluginsTree, startsWithWindow } from './plugins/pluginsTree.ts';
import { StatusBar } from './statusBar.ts';
import { absoluteOf } from './workspace/fileUris.ts';

/** For the test suites inside the extension host. */
export interface TestApi {
  readonly ready: Promise<void>;
  /** Available once `ready` has resolved. */
  readonly earshot: Earshot;
  /** The number of disposables that are not disposed. */
  alive(): number;
}

let loading: Promise<Composed | undefined> | undefined;
let windowListener: Promise<WindowListener | undefined> | undefined;

export function activate(context: vscode.ExtensionContext): TestApi | undefined {
  const testing = context.extensionMode === vscode.ExtensionMode.Test;
  const alive = new Set<object>();
  if (testing) {
    setDisposableTracker({
      created: (disposable) => alive.add(disposable),
      disposed: (disposable) => alive.delete(disposable),
    });
  }
  const pluginsTree = new PluginsTree(async () => (await load('the program plugins'))?.pluginRows());
  const notifications = new LazyTree<NotificationNode>(NOTIFICATIONS_VIEW, () => {
    void load('the Notifications view').catch((error: unknown) =>
      shell.logger.error('the Notifications view could not be loaded', error),
    );
  });
  windowListener = listen({
    wanted: async () => (await load('a program that attaches')) !== undefined,
    report: (message, error) => logger.error(message, error),
  });
  const logger = createOutput();
  void windowListener.catch((error: unknown) => logger.error('the window’s socket cannot be opened', error));
  const shell: Shell = {
    logger,
    statusBar: new StatusBar(),
    notifications,
    pluginsTree,
    windowListener: windowListener.catch(ignore),
  };
  /** The first use loads everything; the next use retries after a failure. */
  const load = (why: string): Promise<Composed | undefined> => {
    loading ??= compose(context, shell, why).catch((error: unknown) => {
      loading = undefined;
      reportFailure(shell, error);
      return undefined;
    });
    return loading;
  };
  context.subscriptions.push(
    shell.logger,
    shell.statusBar,
    pluginsTree,
    vscode.window.registerTreeDataProvider(PLUGINS_VIEW, pluginsTree),
    notifications,
    registerCommands(async () => (await load('a command'))?.commands),
    vscode.languages.registerCodeActionsProvider('*', problemActions, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    vscode.window.registerWebviewViewProvider(
      CHAT_VIEW,
      {
        resolveWebviewView: async (view, ...rest) => {
          const open = new Set([view]);
          const closing = view.onDidDispose(() => open.clear());
          const composed = await load('the chat view');
          closing.dispose();
          // The view may have been closed during loading.
          if (open.has(view)) await composed?.view.resolveWebviewView(view, ...rest);
        },
      },
      { webviewOptions: { retainContextWhenHidden: playsSound() } },
    ),
  );
  void offerServer(context).catch((error: unknown) =>
    logger.error('the MCP server for notifications could not be offered', error),
  );
  if (testing) return createTestApi(load('the tests'), () => alive.size);
  const recover = async () => {
    if (startsWithWindow()) await load('a program plugin');
    else if (await mayHaveConversations(storageOf(context))) await load('conversations to recover');
    else if (await hasListeners()) await load('agents of other programs');
  };
  void recover().catch((error: unknown) => shell.logger.error('could not search for conversations', error));
  void showOnce(context).catch((error: unknown) => shell.logger.error('the chat could not be shown', error));
  return undefined;
}

/** The page plays the sound, so it must be retained while the view is hidden. */
function playsSound(): boolean {
  return anySetting('earshot.attention.sound') === true;
}

/** Shows the chat on the first run, when VS Code opens the secondary side bar empty; not if it is hidden by default. */
async function showOnce({ globalState }: vscode.ExtensionContext): Promise<void> {
  const visibility = anySetting('workbench.secondarySideBar.defaultVisibility');
  if (visibility === 'hidden' || globalState.get('chatShown') === true) return;
  await globalState.update('chatShown', true);
  await vscode.commands.executeCommand(`${CHAT_VIEW}.focus`);
}

export async function deactivate(): Promise<void> {
  const composed = await loading;
  loading = undefined;
  await composed?.close();
  await (await windowListener?.catch(ignore))?.close();
}

/** Opens the socket by which outside programs attach to the window; the first program loads everything. */
async function listen(deps: Pick<WindowListenerDeps, 'wanted' | 'report'>): Promise<WindowListener | undefined> {
  const { listenForPrograms } = await import('./plugins/windowListening.ts');
  return listenForPrograms(deps);
}

async function hasListeners(): Promise<boolean> {
  return (await import('./plugins/windowListening.ts')).hasOutsideAgents();
}

/** Offers the MCP server by which other agents in VS Code get notifications. */
async function offerServer(context: vscode.ExtensionContext): Promise<void> {
  const { offerNotificationsServer } = await import('./listening/notificationsServer.ts');
  context.subscriptions.push(...offerNotificationsServer(context));
}

async function compose(context: vscode.ExtensionContext, shell: Shell, why: string): Promise<Composed> {
  shell.logger.info(`loading, for ${why}`);
  const composed = (await import('./compose.ts')).compose(context, shell);
  context.subscriptions.push(composed);
  // The chat shows obstacles itself.
  void composed.ready.catch((error: unknown) => shell.logger.error('the last conversation could not be shown', error));
  return composed;
}

function reportFailure({ logger }: Shell, error: unknown): void {
  logger.error('Earshot could not be loaded', error);
  const message = vscode.l10n.t(
    'Earshot could not be loaded. Reload the window; if that does not help, reinstall the extension.',
  );
  const show = vscode.l10n.t('Show Log');
  void Promise.resolve(vscode.window.showErrorMessage(message, show)).then(
    (chosen) => chosen === show && logger.show(),
    (failed: unknown) => logger.error('a message could not be shown', failed),
  );
}

/** With no folder open there is no workspace storage. */
function storageOf({ storageUri, globalStorageUri }: vscode.ExtensionContext) {
  return {
    folder: (storageUri ?? globalStorageUri).fsPath,
    globalFolder: globalStorageUri.fsPath,
    workspaceFolders: (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => absoluteOf(uri)),
  };
}

function createTestApi(loaded: Promise<Composed | undefined>, alive: () => number): TestApi {
  let earshot: Earshot | undefined;
  const ready = loaded.then(async (composed) => {
    earshot = composed?.earshot;
    await composed?.ready;
  });
  return {
    ready,
    get earshot() {
      if (earshot === undefined) throw new Error('Earshot is not loaded yet');
      return earshot;
    },
    alive,
  };
}
