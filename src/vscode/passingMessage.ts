// Shows messages that vanish, also from the notification centre, as soon as their reason is gone. VS Code cannot close
// its ordinary messages, but a progress message ends with its task; its button is a link to a command of its own.
import * as vscode from 'vscode';

/** VS Code cuts longer messages, and would cut the link. */
const LONGEST = 400;

export interface PassingMessage {
  readonly text: string;
  /** The label of the link. */
  readonly action: string;
  /** Aborted when there is no reason for the message any more. */
  readonly gone: AbortSignal;
}

let shown = 0;

/** Resolves to whether the user chose the action. */
export async function showPassing({ text, action, gone }: PassingMessage): Promise<boolean> {
  if (gone.aborted) return false;
  const id = `earshot.message.${++shown}`;
  const { promise: isChosen, resolve } = Promise.withResolvers<boolean>();
  const command = vscode.commands.registerCommand(id, () => resolve(true));
  const end = () => resolve(false);
  gone.addEventListener('abort', end, { once: true });
  const title = `${withoutLinks(text)} [${action}](command:${id})`;
  try {
    return await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => isChosen);
  } finally {
    gone.removeEventListener('abort', end);
    command.dispose();
  }
}

/** A model or a file chooses parts of the text: these must not become links, which could run commands. */
function withoutLinks(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('](', '] (');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
