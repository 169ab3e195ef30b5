// Program plugins in the editor: the host and the window's socket with their settings, dialogs, output channels and rows.
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Result } from '../../base/errors.ts';
import { type LocalClients } from '../../core/client/local/localClient.ts';
import { Listeners, type ListenersDeps } from '../../core/listeners.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { outsideFolder, socketHome } from '../../node/hubFolder.ts';
import { createApprovedPrograms, createEarsApprovals } from '../../plugins/host/approvedPrograms.ts';
import { AttachedPrograms } from '../../plugins/host/attachedPrograms.ts';
import { listenKey, ProgramConsent } from '../../plugins/host/consent.ts';
import { PluginHost } from '../../plugins/host/pluginHost.ts';
import { type WindowListener } from '../../plugins/host/windowListener.ts';
import { createInit } from '../../plugins/initMessage.ts';
import { SharedParts } from '../../plugins/sharedParts.ts';
import { WEB_CHAT } from '../../protocol/webChat.ts';
import { type Storage } from '../../storage/storage.ts';
import { createListenerTools, type ListenerToolsDeps } from '../../tools/listenerTools.ts';
import { SETTINGS_SECTION } from '../ids.ts';
import { InstallCommands } from '../listening/installCommands.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';
import {
  chooseArguments,
  choosePlugin,
  confirmAttach,
  confirmListen,
  confirmRun,
  listenSubject,
  pluginSubject,
} from './pluginDialogs.ts';
import { listenRow, pluginRow } from './pluginRows.ts';
import { readPrograms } from './pluginSettings.ts';
import { type PluginRows } from './pluginsTree.ts';
import { WebChatController, type WebChatDeps } from './webChatController.ts';
import { workspaceFolder, workspaceRoots } from './windowListening.ts';
import { failureMessage } from '../failureMessage.ts';
import { type OutputSink } from '../../plugins/output.ts';

export interface PluginsControllerDeps {
  readonly context: vscode.ExtensionContext;
  readonly clients: LocalClients;
  readonly waiting: WaitingApprovals;
  readonly model: WebChatDeps['model'];
  readonly folderFacts: WebChatDeps['folderFacts'];
  readonly shown: WebChatDeps['shown'];
  /** The spool has a line from a script. Resolves to the number of conversations that got it. */
  spooled(id: string): Promise<number>;
  /** The window's socket; undefined without a folder, or if it cannot be opened. */
  readonly listener: Promise<WindowListener | undefined>;
  /** Further ports for outside agents. */
  readonly listening: Pick<ListenersDeps, 'snapshots'> &
    Pick<ListenerToolsDeps, 'wakes' | 'handles' | 'workspace'> &
    Pick<Storage, 'listenersIn'>;
}

/** The argument of a command: from a row of the view, or passed by another caller. */
interface Chosen {
  readonly name: string;
  readonly args?: readonly string[];
}

export class PluginsController implements PluginRows, Disposable {
  readonly #deps: PluginsControllerDeps;
  readonly #held = new DisposableStore();
  readonly #shared: SharedParts;
  readonly #host: PluginHost;
  readonly #webChat: WebChatController;
  readonly #channels: PluginChannels;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #consent: ProgramConsent;
  /** Undefined without a folder. */
  #listeners: Listeners | undefined;
  readonly #installing: InstallCommands;
  #attached: AttachedPrograms | undefined;

  constructor(deps: PluginsControllerDeps) {
    this.#deps = deps;
    const { context, clients } = deps;
    const { ports } = clients;
    this.#held.add(this.#changed);
    this.#channels = this.#held.add(new PluginChannels());
    this.#shared = this.#held.add(new SharedParts(clients));
    const programs = () => readPrograms().programs;
    const isTrusted = () => vscode.workspace.isTrusted;
    this.#consent = new ProgramConsent({
      approved: createApprovedPrograms({
        files: realFileSystem,
        folder: context.globalStorageUri.fsPath,
        logger: ports.logger,
      }),
      programs,
      isTrusted,
      folder: workspaceFolder,
      roots: workspaceRoots,
      confirmRun: (consent) => confirmRun(consent, deps.waiting),
      confirmAttach,
      confirmListen: (consent) => confirmListen(consent, deps.waiting),
      listenersChanged: () => this.#changed.fire(),
    });
    const approveListen = async (agent: string) => {
      await this.#consent.answerListen(agent, true);
      deps.waiting.withdraw(listenSubject(agent));
      await createEarsApprovals(socketHome(), ports.logger).add(listenKey(agent));
    };
    this.#installing = this.#held.add(new InstallCommands({ context, approveListen }));
    this.#host = this.#held.add(
      new PluginHost({ ...this.#common(), consent: this.#consent, programs, isTrusted, shared: this.#shared }),
    );
    this.#held.add(this.#host.onDidChange(() => this.#changed.fire()));
    this.#webChat = new WebChatController({
      ...this.#common(),
      ...{ context, isTrusted, shared: this.#shared, model: deps.model, folderFacts: deps.folderFacts },
      folder: workspaceFolder,
      shown: deps.shown,
    });
    this.#held.add(this.#webChat.host);
    this.#held.add(this.#webChat.host.onDidChange(() => this.#changed.fire()));
    this.#held.add(
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        void this.#host.startAll().catch(this.#report('program plugins could not be started'));
      }),
    );
    this.#held.add(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration(`${SETTINGS_SECTION}.plugins`)) return;
        const names = new Set([...programs().keys()].map(pluginSubject));
        for (const { subject } of deps.waiting.all) {
          if (subject.startsWith(pluginSubject('')) && !names.has(subject)) deps.waiting.withdraw(subject);
        }
        void this.#host.refresh().catch(this.#report('program plugins could not be checked'));
      }),
    );
  }

  readonly onDidChange = this.#changed.event;

  get hasAttached(): boolean {
    const others = [this.#attached?.statuses ?? [], this.#webChat.host.statuses, this.#consent.openListens];
    return others.some(({ length }) => length > 0);
  }

  /** Resolves once programs can attach; plugins that start with the window may still wait for the user's approval. */
  async start(): Promise<void> {
    const listener = await this.#deps.listener;
    const folder = workspaceFolder();
    if (listener !== undefined && folder !== undefined) this.#serve(listener, await this.#startListeners(folder));
    void this.#installing.refresh().catch(this.#report('the hook of other agents could not be updated'));
    await this.#host.refresh();
    void this.#host.startAll().catch(this.#report('program plugins could not be started'));
  }

  async rows(): Promise<readonly vscode.TreeItem[]> {
    const { problems } = readPrograms();
    const statuses = [...this.#host.statuses, ...this.#webChat.host.statuses, ...(this.#attached?.statuses ?? [])];
    return [
      ...this.#consent.openListens.map(listenRow),
      ...statuses.map(pluginRow),
      ...[...problems].map(([name, problem]) => {
        const row = new vscode.TreeItem(name);
        row.description = vscode.l10n.t('Not valid: {0}', problem);
        row.iconPath = new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
        return row;
      }),
    ];
  }

  readonly commands = {
    run: async (item?: unknown) => {
      const chosen = readChosen(item);
      const name = chosen?.name ?? (await choosePlugin(this.#host.statuses));
      if (name === undefined) return;
      if (name === WEB_CHAT) {
        await this.#webChat.open();
        return;
      }
      // It starts as soon as the open question is answered.
      if (await this.#deps.waiting.review(pluginSubject(name))) return;
      const args = chosen?.args ?? (await chooseArguments(name));
      if (args !== undefined) await this.#show(this.#host.run(name, args), name);
    },
    approve: (item?: unknown) => this.#with(item, (name) => this.#approve(name)),
    stop: (item?: unknown) =>
      this.#with(item, async (name) => {
        await Promise.all([this.#hostOf(name).stop(name), this.#attached?.stop(name)]);
      }),
    restart: (item?: unknown) => this.#with(item, (name) => this.#show(this.#hostOf(name).restart(name), name)),
    openWebChat: () => this.#webChat.open(),
    installForAgents: () => this.#installing.install(),
    removeFromAgents: () => this.#installing.remove(),
    showLog: (item?: unknown) => this.#with(item, async (name) => this.#channels.show(name)),
  };

  /** Shuts all plugins down. */
  async close(): Promise<void> {
    await Promise.all([this.#host.close(), this.#webChat.host.close(), this.#attached?.close()]);
    await this.#listeners?.close();
  }

  dispose(): void {
    this.#attached?.dispose();
    this.#held.dispose();
  }

  async #startListeners(folder: string): Promise<Listeners> {
    const { listenersIn, ...listening } = this.#deps.listening;
    const stored = listenersIn(await outsideFolder(folder), () => listeners.live.length > 0);
    const listeners: Listeners = new Listeners({ ...this.#deps.clients.ports, ...listening, ...stored });
    this.#listeners = listeners;
    await listeners.start();
    return listeners;
  }

  #serve(listener: WindowListener, listeners: Listeners): void {
    const attached = new AttachedPrograms({
      ...this.#common(),
      shared: this.#shared,
      consent: this.#consent,
      programs: () => readPrograms().programs,
      token: listener.token,
      listeners,
      tools: createListenerTools({ ...this.#deps.clients.ports, ...this.#deps.listening }),
      spooled: (id) => this.#deps.spooled(id),
      changed: () => this.#changed.fire(),
    });
    this.#attached = attached;
    this.#held.add(listener.serve((socket) => attached.serve(socket)));
  }

  #common() {
    const { context, clients } = this.#deps;
    const storage = (context.storageUri ?? context.globalStorageUri).fsPath;
    const root = workspaceFolder() ?? null;
    const workspace = {
      root,
      storage,
      id: createHash('sha256')
        .update(root ?? storage)
        .digest('hex')
        .slice(0, 16),
    };
    return {
      init: (options: Readonly<Record<string, unknown>>, args: readonly string[]) =>
        createInit(
          {
            workspace,
            paths: { home: homedir(), extension: context.extensionPath },
            settings: clients.ports.settings(),
            logLevel: logLevel(),
          },
          options,
          args,
        ),
      openOutput: (name: string) => this.#channels.open(name),
    };
  }

  async #approve(name: string): Promise<void> {
    const { waiting } = this.#deps;
    for (const subject of [listenSubject(name), pluginSubject(name)]) if (await waiting.review(subject)) return;
    await this.#show(this.#host.approve(name), name);
  }

  #hostOf(name: string): PluginHost {
    return name === WEB_CHAT ? this.#webChat.host : this.#host;
  }

  async #with(item: unknown, act: (name: string) => Promise<void>): Promise<void> {
    const name = readChosen(item)?.name ?? (await choosePlugin(this.#host.statuses));
    if (name !== undefined) await act(name);
  }

  /** Shows the failure of an action that the user has started. */
  async #show(result: Promise<Result<unknown>>, name: string): Promise<void> {
    const done = await result;
    if (done.ok) return;
    const show = vscode.l10n.t('Show Log');
    const chosen = await vscode.window.showErrorMessage(failureMessage(done.failure), show);
    if (chosen === show) this.#channels.show(name);
  }

  #report(what: string): (error: unknown) => void {
    return (error) => this.#deps.clients.ports.logger.error(what, error);
  }
}

function readChosen(item: unknown): Chosen | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  if (item instanceof vscode.TreeItem) return typeof item.label === 'string' ? { name: item.label } : undefined;
  const { name, args } = item as { name?: unknown; args?: unknown };
  if (typeof name !== 'string') return undefined;
  const isList = Array.isArray(args) && args.every((one): one is string => typeof one === 'string');
  return { name, ...(isList && { args }) };
}

function logLevel(): number {
  const levels: Readonly<Record<number, number>> = {
    [vscode.LogLevel.Trace]: 4,
    [vscode.LogLevel.Debug]: 3,
    [vscode.LogLevel.Info]: 2,
    [vscode.LogLevel.Warning]: 1,
  };
  return levels[vscode.env.logLevel] ?? 0;
}

/** One output channel for each program plugin, created with its first output. */
class PluginChannels implements Disposable {
  readonly #channels = new Map<string, vscode.OutputChannel>();

  open(name: string): OutputSink {
    return {
      append: (text) => this.#channel(name).appendLine(text),
      log: (level, message) =>
        this.#channel(name).appendLine(`${new Date().toLocaleTimeString()} [${level}] ${message}`),
    };
  }

  show(name: string): void {
    this.#channel(name).show(true);
  }

  dispose(): void {
    for (const channel of this.#channels.values()) channel.dispose();
    this.#channels.clear();
  }

  #channel(name: string): vscode.OutputChannel {
    const channel = this.#channels.get(name) ?? vscode.window.createOutputChannel(`Earshot Plugin: ${name}`);
    this.#channels.set(name, channel);
    return channel;
  }
}
