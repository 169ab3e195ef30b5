// Commands for new users: the walkthrough, and the tour in the chat.
import * as vscode from 'vscode';
import { type PageHost } from '../core/frontend/page/pageHost.ts';
import { type ChatView } from './chat/chatView.ts';
import { type CommandHandlers } from './commands.ts';
import { COMMANDS } from './ids.ts';

const WALKTHROUGH = 'earshot.earshot#start';

export function firstMinutes(view: Pick<ChatView, 'reveal'>, page: Pick<PageHost, 'newChat' | 'send'>) {
  return {
    [COMMANDS.openWalkthrough]: async () =>
      vscode.commands.executeCommand('workbench.action.openWalkthrough', WALKTHROUGH, false),
    [COMMANDS.tour]: async () => {
      await view.reveal();
      await page.newChat();
      await page.send('tour');
    },
  } satisfies Partial<CommandHandlers>;
}
