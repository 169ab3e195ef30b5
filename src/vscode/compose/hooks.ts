// Composes hooks: reads them from user and workspace settings, and asks the user to approve those of a workspace.
import * as vscode from 'vscode';
import { printPath, printWords } from '../../base/printPath.ts';
import { type Hooks } from '../../core/ports/hooks.ts';
import { type ConfiguredHook, createHooks, type HookApproval } from '../../hooks/hooks.ts';
import { realFileSystem } from '../../node/files/fileSystem.ts';
import { realClock } from '../../node/realClock.ts';
import { createApprovedPrograms } from '../../plugins/host/approvedPrograms.ts';
import { HOOK_EVENTS, hooksSchema } from '../../protocol/outside/hooks.ts';
import { describePins } from '../approvalTexts.ts';
import { userSetting, workspaceSetting } from '../configuration.ts';
import { SETTINGS_SECTION } from '../ids.ts';
import { workspaceFolder, workspaceRoots } from '../plugins/windowListening.ts';
import { type ApprovalQuestion } from '../waitingApprovals.ts';
import { type Window } from './window.ts';

export function composeHooks(
  { context, logger, settings, waiting, held, report }: Window,
  notice: (text: string) => void,
): Hooks {
  let configured = readHooks();
  const hooks = createHooks({
    clock: realClock,
    logger,
    configured: () => configured,
    folder: workspaceFolder,
    roots: workspaceRoots,
    isTrusted: () => vscode.workspace.isTrusted,
    mode: () => settings.current.mode,
    approved: createApprovedPrograms({ files: realFileSystem, folder: context.globalStorageUri.fsPath, logger }),
    approve: (approval, signal) => waiting.ask(hookQuestion(approval), signal),
    notice,
  });
  const check = () => void hooks.check().catch(report('hooks could not be checked'));
  held.add(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration(`${SETTINGS_SECTION}.hooks`)) return;
      configured = readHooks();
      check();
    }),
  );
  held.add(vscode.workspace.onDidGrantWorkspaceTrust(check));
  held.add(vscode.workspace.onDidChangeWorkspaceFolders(check));
  check();
  return hooks;
}

/**
 * The user's hooks, then those of the workspace. An invalid value is skipped here and reported by the settings reader.
 */
function readHooks(): readonly ConfiguredHook[] {
  const read = (value: unknown, workspace: boolean): ConfiguredHook[] => {
    const hooks = hooksSchema.safeParse(value ?? {}).data ?? {};
    return HOOK_EVENTS.flatMap((event) => (hooks[event] ?? []).map((hook) => ({ event, hook, workspace })));
  };
  return [
    ...read(userSetting(`${SETTINGS_SECTION}.hooks`), false),
    ...read(workspaceSetting(`${SETTINGS_SECTION}.hooks`), true),
  ];
}

function hookQuestion({ event, command, files, unpinned, workspace }: HookApproval): ApprovalQuestion {
  const words = printWords(command);
  return {
    subject: `hook ${event} ${words}`,
    name: vscode.l10n.t('the hook {0}', printPath(words)),
    waiting: vscode.l10n.t('The hook {0} at {1} is not running: it needs your approval.', printPath(words), event),
    announcement: workspace
      ? vscode.l10n.t('This workspace configures a hook that runs at {0}. It runs only after your approval.', event)
      : vscode.l10n.t(
          'A hook of your settings at {0} would run code of this workspace. It runs only after your approval.',
          event,
        ),
    question: workspace
      ? vscode.l10n.t('Run this hook of the workspace?')
      : vscode.l10n.t('Run this hook with code of the workspace?'),
    detail: [
      vscode.l10n.t('Command: {0}', words),
      ...describePins(files, unpinned),
      vscode.l10n.t('It runs with your rights and can see what the conversation does.'),
    ].join('\n\n'),
    isProgram: true,
    approve: vscode.l10n.t('Approve'),
    refuse: vscode.l10n.t('Do Not Run'),
  };
}
