// The handlers of the controls below the composer: model, mode, approvals, settings, context.
import * as vscode from 'vscode';
import { type LiveConversation } from '../../core/conversation/liveConversation.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { readContext } from '../../core/frontend/contextView.ts';
import { type Model } from '../../core/ports/ports.ts';
import { type Settings } from '../../protocol/settings.ts';
import { COMMANDS, NOTIFICATIONS_VIEW, SETTINGS_SECTION } from '../ids.ts';
import { updateSetting } from '../settings.ts';
import { type ControlsHandlers } from './pageHandlers.ts';

export interface ControlsDeps {
  readonly frontend: Pick<ChatFrontend, 'reply'>;
  settings(): Settings;
  model(): Model;
  shown(): LiveConversation | undefined;
}

export function createControlsHandlers({ frontend, settings, model, shown }: ControlsDeps): ControlsHandlers {
  return {
    choose_model: async () => vscode.commands.executeCommand(COMMANDS.chooseModel),
    // Only the web chat lists models on its page; here the user chooses in a quick pick.
    list_models: () => undefined,
    pick_model: () => undefined,
    set_api_key: async () => vscode.commands.executeCommand(COMMANDS.setApiKey),
    set_mode: ({ mode }) => updateSetting('mode', mode),
    set_approvals: async ({ mode }) => {
      if (mode !== 'all' || (await confirmAll())) await updateSetting('approvals.mode', mode);
    },
    show_rules: async () => vscode.commands.executeCommand(COMMANDS.showRules),
    open_settings: async () => openSettings(),
    show_notifications: async () => vscode.commands.executeCommand(`${NOTIFICATIONS_VIEW}.focus`),
    read_context: () => {
      const live = shown();
      frontend.reply({
        type: 'context',
        context: live === undefined ? null : readContext(live.log.state, model(), settings()),
      });
    },
  };
}

export async function openSettings(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', `@ext:earshot.${SETTINGS_SECTION}`);
}

/** Asks for confirmation: one click must not turn off all approvals. */
async function confirmAll(): Promise<boolean> {
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
