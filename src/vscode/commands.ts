// Registers every command; the handlers are loaded by the first one that runs.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { COMMANDS, type CommandId } from './ids.ts';

/** A command without a handler does not compile. */
export type CommandHandlers = { readonly [C in CommandId]: (...given: readonly unknown[]) => Promise<void> | void };

/** Each command waits until the handlers are loaded; it does nothing if they could not be loaded (undefined). */
export function registerCommands(handlers: () => Promise<CommandHandlers | undefined>): Disposable {
  const held = new DisposableStore();
  for (const id of Object.values(COMMANDS)) {
    held.add(vscode.commands.registerCommand(id, async (...given: unknown[]) => (await handlers())?.[id](...given)));
  }
  return held;
}
