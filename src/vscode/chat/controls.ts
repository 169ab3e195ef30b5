// The handlers of the controls below the composer, and the questions before a choice. Model, effort, mode and approvals are
// chosen for the shown conversation, and new ones start with them.
import * as vscode from 'vscode';
import { type PageHost } from '../../core/frontend/page/pageHost.ts';
import { type ConversationChoice } from '../../protocol/page/controlsView.ts';
import { type SettingLimits } from '../../protocol/settingRules.ts';
import { COMMANDS, NOTIFICATIONS_VIEW, SETTINGS_SECTION } from '../ids.ts';
import { type ControlsHandlers } from './pageHandlers.ts';

export const controlsHandlers: ControlsHandlers = {
  choose_model: async () => vscode.commands.executeCommand(COMMANDS.chooseModel),
  set_api_key: async () => vscode.commands.executeCommand(COMMANDS.setApiKey),
  show_rules: async () => vscode.commands.executeCommand(COMMANDS.showRules),
  open_settings: async () => openSettings(),
  show_notifications: async () => vscode.commands.executeCommand(`${NOTIFICATIONS_VIEW}.focus`),
};

export async function openSettings(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', `@ext:earshot.${SETTINGS_SECTION}`);
}

/** Asks for confirmation: one click must not turn off all approvals. A mode that the workspace forbids is refused. */
export async function confirmChoice(
  { mode, approvals }: ConversationChoice,
  limits: SettingLimits,
  page: Pick<PageHost, 'notice'>,
): Promise<boolean> {
  if (mode !== undefined && mode !== (limits.mode ?? mode)) {
    page.notice('warning', vscode.l10n.t('The settings of this workspace allow only Plan mode (earshot.mode).'));
    return false;
  }
  if (approvals !== 'all') return true;
  const approve = vscode.l10n.t('Approve Everything');
  const answer = await vscode.window.showWarningMessage(
    vscode.l10n.t('Run every tool call without asking?'),
    {
      modal: true,
      detail: vscode.l10n.t(
        'Commands and edits run without approval. Only files outside the workspace and protected files still need it.',
      ),
    },
    approve,
  );
  return answer === approve;
}
