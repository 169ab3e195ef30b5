// The handlers of the controls below the composer: model, effort, mode, approvals, settings, context. Model, effort, mode and
// approvals are chosen for the shown conversation, and new ones start with them.
import * as vscode from 'vscode';
import { describeFailure } from '../../base/errors.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { readContext } from '../../core/frontend/contextView.ts';
import { type ConversationChoice } from '../../protocol/page/controlsView.ts';
import { type SettingLimits } from '../../protocol/settingRules.ts';
import { type ChoosingChat } from '../compose/models.ts';
import { COMMANDS, NOTIFICATIONS_VIEW, SETTINGS_SECTION } from '../ids.ts';
import { type LastChoice } from '../models/lastChoice.ts';
import { type ControlsHandlers } from './pageHandlers.ts';

export interface ControlsDeps {
  readonly frontend: Pick<ChatFrontend, 'reply'>;
  readonly earshot: Pick<Earshot, 'get' | 'choices'>;
  readonly last: Pick<LastChoice, 'set'>;
  limits(): SettingLimits;
  /** The id of the shown conversation. */
  shown(): string | undefined;
  refresh(): void;
  warn(text: string): void;
}

export function createControlsHandlers(deps: ControlsDeps): {
  readonly handlers: ControlsHandlers;
  readonly choosing: ChoosingChat;
} {
  const { frontend, earshot, shown } = deps;
  const choose = async (choice: ConversationChoice) => {
    const id = shown();
    if (id !== undefined && earshot.get(id) !== undefined) {
      const chosen = await earshot.choices.choose(id, choice);
      if (!chosen.ok) {
        deps.warn(describeFailure(chosen.failure));
        return;
      }
    }
    await deps.last.set(choice);
    deps.refresh();
  };
  const handlers: ControlsHandlers = {
    choose_model: async () => vscode.commands.executeCommand(COMMANDS.chooseModel),
    // Only the web chat lists models on its page; here the user chooses in a quick pick.
    list_models: () => undefined,
    pick_model: () => undefined,
    set_api_key: async () => vscode.commands.executeCommand(COMMANDS.setApiKey),
    set_mode: async ({ mode }) => {
      if (mode === (deps.limits().mode ?? mode)) return choose({ mode });
      deps.warn(vscode.l10n.t('The settings of this workspace allow only Plan mode (earshot.mode).'));
    },
    set_effort: ({ effort }) => choose({ effort }),
    set_approvals: async ({ mode: approvals }) => {
      if (approvals !== 'all' || (await confirmAll())) await choose({ approvals });
    },
    show_rules: async () => vscode.commands.executeCommand(COMMANDS.showRules),
    open_settings: async () => openSettings(),
    show_notifications: async () => vscode.commands.executeCommand(`${NOTIFICATIONS_VIEW}.focus`),
    read_context: () => {
      const id = shown();
      const live = id === undefined ? undefined : earshot.get(id);
      const { model, settings } = earshot.choices.of(id);
      const context = live === undefined ? null : readContext(live.log.state, model, settings);
      frontend.reply({ type: 'context', context });
    },
  };
  return { handlers, choosing: { current: () => earshot.choices.of(shown()).settings.model, choose } };
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
