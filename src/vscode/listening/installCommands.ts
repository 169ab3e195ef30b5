// Earshot: Install Notifications for Other Agents, and Remove: asks for which, shows the change, then writes it.
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import * as vscode from 'vscode';
import { type Disposable } from '../../base/disposable.ts';
import { describeFailure } from '../../base/errors.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { AGENT_NAMES, type HookChange, HookInstaller, type HookTarget } from '../../plugins/hook/hookInstaller.ts';
import { workspaceFolder } from '../plugins/windowListening.ts';

const PREVIEW_SCHEME = 'earshot-hook';

export interface InstallDeps {
  readonly context: vscode.ExtensionContext;
  approveListen(agent: string): Promise<void>;
}

export class InstallCommands implements Disposable {
  readonly #deps: InstallDeps;
  #preview: HookChange | undefined;
  readonly #provider: vscode.Disposable;

  constructor(deps: InstallDeps) {
    this.#deps = deps;
    this.#provider = vscode.workspace.registerTextDocumentContentProvider(PREVIEW_SCHEME, {
      provideTextDocumentContent: ({ query }) => (query === 'before' ? this.#preview?.before : this.#preview?.after),
    });
  }

  async install(): Promise<void> {
    const installer = await this.#installer();
    const target = await choose(installer.targets, vscode.l10n.t('Install Notifications for Other Agents'));
    if (target === undefined || !(await this.#change(installer, target, 'install'))) return;
    await installer.copyProgram();
    await this.#deps.approveListen(target.agent);
    const done = vscode.l10n.t('{0} gets notifications from its next session on.', AGENT_NAMES[target.agent]);
    void vscode.window.showInformationMessage(done);
  }

  async remove(): Promise<void> {
    const installer = await this.#installer();
    const installed = await installer.installed();
    if (installed.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('Notifications are not installed for any other agent.'));
      return;
    }
    const target = await choose(installed, vscode.l10n.t('Remove Notifications for Other Agents'));
    if (target !== undefined) await this.#change(installer, target, 'remove');
  }

  /** An update of the extension has another program. */
  async refresh(): Promise<void> {
    await (await this.#installer()).refreshProgram();
  }

  dispose(): void {
    this.#provider.dispose();
  }

  async #installer(): Promise<HookInstaller> {
    return new HookInstaller({
      home: homedir(),
      folder: workspaceFolder(),
      program: this.#deps.context.asAbsolutePath('dist/notifications-hook.js'),
      node: await nodeCommand(),
    });
  }

  /** False: nothing was written. */
  async #change(installer: HookInstaller, target: HookTarget, action: 'install' | 'remove'): Promise<boolean> {
    const planned = await installer.plan(target, action);
    if (!planned.ok) {
      void vscode.window.showErrorMessage(describeFailure(planned.failure));
      return false;
    }
    const change = planned.value;
    if (change.before === change.after) return true;
    if (!(await this.#confirm(change))) return false;
    const applied = await installer.apply(change);
    if (!applied.ok) void vscode.window.showErrorMessage(describeFailure(applied.failure));
    return applied.ok;
  }

  /** Shows the difference, and asks beside it. */
  async #confirm(change: HookChange): Promise<boolean> {
    const { file } = change.target;
    this.#preview = change;
    // Another name each time: the editor keeps what it has shown.
    const [before, after] = ['before', 'after'].map((query) =>
      vscode.Uri.from({ scheme: PREVIEW_SCHEME, path: file, query, fragment: String(change.after.length) }),
    );
    await vscode.commands.executeCommand('vscode.diff', before, after, vscode.l10n.t('Change of {0}', file));
    const write = vscode.l10n.t('Write');
    const asked = vscode.l10n.t('Write this change to {0}?', file);
    return (await vscode.window.showInformationMessage(asked, write, vscode.l10n.t('Cancel'))) === write;
  }
}

async function choose(targets: readonly HookTarget[], title: string): Promise<HookTarget | undefined> {
  const items = targets.map((target) => ({
    label: AGENT_NAMES[target.agent],
    description: target.scope === 'folder' ? vscode.l10n.t('This folder') : vscode.l10n.t('All folders'),
    detail: target.file,
    target,
  }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDetail: true }))?.target;
}

/** The beginning of a shell's command line. Without a Node of the user's it is the editor's own. */
async function nodeCommand(): Promise<string> {
  const windows = process.platform === 'win32';
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter((one) => one !== '')) {
    if ((await realFileSystem.stat(join(folder, windows ? 'node.exe' : 'node'))) !== undefined) return 'node';
  }
  return windows ? 'node' : `ELECTRON_RUN_AS_NODE=1 ${JSON.stringify(process.execPath)}`;
}
