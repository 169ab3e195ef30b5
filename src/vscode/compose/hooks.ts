// Composes hooks: reads them from user and workspace settings, and asks the user to approve those of a workspace.
import * as vscode from 'vscode';
import { printWords } from '../../base/printPath.ts';
import { type Hooks } from '../../core/ports/hooks.ts';
import { type ConfiguredHook, createHooks, type HookApproval } from '../../hooks/hooks.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { realClock } from '../../node/realClock.ts';
import { createApprovedPrograms } from '../../plugins/host/approvedPrograms.ts';
import { HOOK_EVENTS, hooksSchema } from '../../protocol/outside/hooks.ts';
import { describePins } from '../approvalTexts.ts';
import { SETTINGS_SECTION } from '../ids.ts';
import { workspaceFolder, workspaceRoots } from '../plugins/windowListening.ts';
import { type Window } from './window.ts';

export function composeHooks({ context, logger, settings, held }: Window, notice: (text: string) => void): Hooks {
  let configured = readHooks();
  held.add(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${SETTINGS_SECTION}.hooks`)) configured = readHooks();
    }),
  );
  return createHooks({
    clock: realClock,
    logger,
    configured: () => configured,
    folder: workspaceFolder,
    roots: workspaceRoots,
    isTrusted: () => vscode.workspace.isTrusted,
    mode: () => settings.current.mode,
    approved: createApprovedPrograms({ files: realFileSystem, folder: context.globalStorageUri.fsPath, logger }),
    approve: approveHook,
    notice,
  });
}

/**
 * The user's hooks, then those of the workspace. An invalid value is skipped here and reported by the settings reader.
 */
function readHooks(): readonly ConfiguredHook[] {
  const inspected = vscode.workspace.getConfiguration(SETTINGS_SECTION).inspect('hooks');
  const { globalValue, workspaceValue, workspaceFolderValue } = inspected ?? {};
  const read = (value: unknown, workspace: boolean): ConfiguredHook[] => {
    const hooks = hooksSchema.safeParse(value ?? {}).data ?? {};
    return HOOK_EVENTS.flatMap((event) => (hooks[event] ?? []).map((hook) => ({ event, hook, workspace })));
  };
  return [...read(globalValue, false), ...read(workspaceValue, true), ...read(workspaceFolderValue, true)];
}

async function approveHook({ event, command, files, unpinned, workspace }: HookApproval): Promise<boolean> {
  const review = vscode.l10n.t('Review…');
  const message = workspace
    ? vscode.l10n.t('This workspace configures a hook that runs at {0}. It runs only after your approval.', event)
    : vscode.l10n.t(
        'A hook of your settings at {0} would run code of this workspace. It runs only after your approval.',
        event,
      );
  if ((await vscode.window.showInformationMessage(message, review)) !== review) return false;
  const detail = [
    vscode.l10n.t('Command: {0}', printWords(command)),
    ...describePins(files, unpinned),
    vscode.l10n.t('It runs with your rights and can see what the conversation does.'),
  ].join('\n\n');
  const allow = vscode.l10n.t('Approve');
  const question = vscode.l10n.t('Run this hook of the workspace?');
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, allow)) === allow;
}
