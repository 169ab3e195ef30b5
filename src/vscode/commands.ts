// Every command, by its id: package.json contributes the same ones, held by a test.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposable.ts';

export const CHAT_VIEW = 'earshot.chat';

const COMMAND_IDS = [
  'earshot.openChat',
  'earshot.newChat',
  'earshot.stop',
  'earshot.deliverNow',
  'earshot.showLog',
  'earshot.chooseModel',
  'earshot.setApiKey',
  'earshot.openConversation',
  'earshot.renameConversation',
  'earshot.forkConversation',
  'earshot.exportConversation',
  'earshot.deleteConversation',
  'earshot.reviewChanges',
  'earshot.keepChanges',
  'earshot.undoChanges',
  'earshot.keepFile',
  'earshot.undoFile',
  'earshot.keepChange',
  'earshot.undoChange',
  'earshot.restore',
] as const;
export type CommandId = (typeof COMMAND_IDS)[number];

/** A command without a handler does not compile. */
export type CommandHandlers = { readonly [C in CommandId]: () => Promise<void> | void };

/** The handlers may come later: each command waits for them. Undefined: they could not be loaded. */
export function registerCommands(handlers: () => Promise<CommandHandlers | undefined>): Disposable {
  const held = new DisposableStore();
  for (const id of COMMAND_IDS) {
    held.add(vscode.commands.registerCommand(id, async () => (await handlers())?.[id]()));
  }
  return held;
}
