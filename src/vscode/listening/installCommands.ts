// The commands that install and remove notifications for other agents: choose the agent, show the change, write it.
import { homedir } from 'node:os';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { ignore } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { type Failure, succeeded } from '../../base/errors.ts';
import { nodeCommand } from '../../node/scripts/nodeCommand.ts';
import { type EarsProgram, offerEarsProgram, readEarsProgram } from '../../plugins/client/ears.ts';
import { type HookChange, HookInstaller } from '../../plugins/hook/hookInstaller.ts';
import { AGENT_NAMES, type HookTarget } from '../../plugins/hook/hookTargets.ts';
import { workspaceFolder } from '../plugins/windowListening.ts';
import { previewName } from './previewName.ts';
import { failureMessage } from '../failureMessage.ts';

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
    const installed = await installer.installed();
    const title = vscode.l10n.t('Install Notifications for Other Agents');
    const target = await choose(installer.targets, title, await describeInstalled(installer, installed));
    const change = target && (await this.#change(installer, target, 'install'));
    if (target === undefined || change === undefined) return;
    await this.#deps.approveListen(target.agent);
    await offerEarsProgram(this.#ears);
    const name = AGENT_NAMES[target.agent];
    const done = changesNothing(change)
      ? vscode.l10n.t('Notifications for {0} are installed already.', name)
      : vscode.l10n.t('{0} gets notifications starting with its next session.', name);
    const hasRun = changesNothing(change) && (await installer.lastRun(target)) !== undefined;
    void vscode.window.showInformationMessage(hasRun ? done : [done, ...untilItRuns(target)].join(' '));
  }

  async remove(): Promise<void> {
    const installer = await this.#installer();
    const installed = await installer.installed();
    if (installed.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('Notifications are not installed for any other agent.'));
      return;
    }
    const title = vscode.l10n.t('Remove Notifications for Other Agents');
    const target = await choose(installed, title, await describeInstalled(installer, installed));
    if (target === undefined || (await this.#change(installer, target, 'remove')) === undefined) return;
    const done = vscode.l10n.t('The hook was removed from {0}.', target.file);
    void vscode.window.showInformationMessage(done);
  }

  /** Replaces the installed program after an update of the extension. */
  async refresh(): Promise<void> {
    await (await this.#installer()).refreshProgram();
    if ((await readEarsProgram()) !== undefined) await offerEarsProgram(this.#ears);
  }

  dispose(): void {
    this.#provider.dispose();
  }

  /** What hooks start when no window is open. */
  get #ears(): EarsProgram {
    return { node: process.execPath, program: this.#deps.context.asAbsolutePath('dist/ears.js') };
  }

  async #installer(): Promise<HookInstaller> {
    return new HookInstaller({
      home: homedir(),
      folder: workspaceFolder(),
      program: this.#deps.context.asAbsolutePath('dist/notifications-hook.js'),
      node: await nodeCommand(),
    });
  }

  /** Undefined if nothing was written: the user cancelled it, or the failure was shown. */
  async #change(
    installer: HookInstaller,
    target: HookTarget,
    action: 'install' | 'remove',
  ): Promise<HookChange | undefined> {
    const planned = await installer.plan(target, action);
    if (!planned.ok) {
      showFailure(planned.failure, target.file);
      return undefined;
    }
    const change = planned.value;
    if (!changesNothing(change) && !(await this.#confirm(change))) return undefined;
    // The program is copied first, so that no settings file names a missing program.
    const copied = action === 'install' ? await installer.copyProgram() : succeeded(undefined);
    const applied = copied.ok ? await installer.apply(change) : copied;
    if (applied.ok) return change;
    showFailure(applied.failure, target.file);
    return undefined;
  }

  /** Shows the diff, and asks in a quick pick that stays open while the user reads the diff. */
  async #confirm(change: HookChange): Promise<boolean> {
    const { file } = change.target;
    const { place } = change;
    this.#preview = change;
    const fragment = previewName(change);
    const [before, after] = ['before', 'after'].map((query) =>
      vscode.Uri.from({ scheme: PREVIEW_SCHEME, path: place, query, fragment }),
    );
    await vscode.commands.executeCommand('vscode.diff', before, after, vscode.l10n.t('Change of {0}', basename(file)));
    const write = {
      label: vscode.l10n.t('Write'),
      detail: place === file ? file : vscode.l10n.t('{0}, a link to {1}', file, place),
    };
    const chosen = await vscode.window.showQuickPick([write, { label: vscode.l10n.t('Cancel') }], {
      title: vscode.l10n.t('Write This Change?'),
      placeHolder: vscode.l10n.t('The editor below shows the change.'),
      ignoreFocusOut: true,
    });
    await closePreviews();
    return chosen === write;
  }
}

async function closePreviews(): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const isPreview = ({ input }: vscode.Tab) =>
    input instanceof vscode.TabInputTextDiff && input.modified.scheme === PREVIEW_SCHEME;
  await vscode.window.tabGroups.close(tabs.filter(isPreview), true);
}

function changesNothing({ before, after }: HookChange): boolean {
  return before === after;
}

function showFailure(failure: Failure, file: string): void {
  const open = vscode.l10n.t('Open File');
  const show = async () => {
    const chosen = await vscode.window.showErrorMessage(failureMessage(failure), open);
    if (chosen === open) await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file));
  };
  // The editor itself reports a file that cannot be opened.
  void show().catch(ignore);
}

/** What a user must do before the agent runs the hook. */
function untilItRuns({ agent }: HookTarget): readonly string[] {
  return agent === 'codex'
    ? [vscode.l10n.t('Codex runs the hook only after you trust it: start Codex, enter /hooks and trust the new hook.')]
    : [];
}

/** Says for each settings file with the hook whether the agent has run it. */
async function describeInstalled(
  installer: HookInstaller,
  installed: readonly HookTarget[],
): Promise<ReadonlyMap<string, string>> {
  const described = installed.map(async (target): Promise<[string, string]> => {
    const run = await installer.lastRun(target);
    const state =
      run === undefined
        ? vscode.l10n.t('Installed, has never run')
        : vscode.l10n.t('Installed, last run {0}', run.toLocaleString());
    return [target.file, state];
  });
  return new Map(await Promise.all(described));
}

async function choose(
  targets: readonly HookTarget[],
  title: string,
  installed: ReadonlyMap<string, string>,
): Promise<HookTarget | undefined> {
  const items = targets.map((target) => {
    const scope = target.scope === 'folder' ? vscode.l10n.t('This folder') : vscode.l10n.t('All folders');
    return {
      label: AGENT_NAMES[target.agent],
      description: [scope, ...(installed.has(target.file) ? [installed.get(target.file)] : [])].join(' · '),
      detail: target.file,
      target,
    };
  });
  const placeHolder = vscode.l10n.t('Choose the agent and where it gets notifications');
  return (await vscode.window.showQuickPick(items, { title, placeHolder, matchOnDetail: true }))?.target;
}
