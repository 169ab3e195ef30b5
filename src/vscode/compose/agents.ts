// Composes the Agents view: the hub as the user sees it, with the conversations of this window.
import * as vscode from 'vscode';
import { type Earshot } from '../../core/earshot.ts';
import { realClock } from '../../node/realClock.ts';
import { type Chat } from '../chat/chatController.ts';
import { type CommandHandlers } from '../commands.ts';
import { AgentsView } from '../hub/agentsView.ts';
import { liveAgents } from '../hub/agentRows.ts';
import { type WindowHub } from '../hub/windowHub.ts';
import { AGENTS_VIEW, COMMANDS, ON_HUB } from '../ids.ts';
import { type Window } from './window.ts';

interface AgentParts {
  readonly hub: WindowHub;
  readonly earshot: Earshot;
  readonly chat: Pick<Chat, 'page' | 'activities'>;
  /** Shows the chat. */
  reveal(): Promise<void>;
}

export function composeAgents({ context, logger, held, report }: Window, parts: AgentParts) {
  const { hub, earshot, chat, reveal } = parts;
  const view = held.add(
    new AgentsView({
      extension: context.extensionUri,
      clock: realClock,
      logger,
      hub,
      live: () => liveAgents(hub, earshot, chat.activities),
      onDidChangeLive: earshot.onDidChange,
      openConversation: async (id) => {
        await Promise.all([reveal(), chat.page.open(id)]);
      },
    }),
  );
  const update = () => {
    const shown = Promise.resolve(vscode.commands.executeCommand('setContext', ON_HUB, hub.isOn));
    void shown.catch(report('the Agents view could not be shown'));
  };
  held.add(hub.onDidChange(update));
  update();
  held.add(vscode.window.registerWebviewViewProvider(AGENTS_VIEW, view));
  return {
    commands: {
      [COMMANDS.showAgents]: async () => vscode.commands.executeCommand(`${AGENTS_VIEW}.focus`),
    } satisfies Partial<CommandHandlers>,
  };
}
