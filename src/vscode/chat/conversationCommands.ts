// The commands on whole conversations: open, rename, fork, export, delete. They ask the user; the library acts.
import * as vscode from 'vscode';
import { describeFailure, type Result } from '../../base/errors.ts';
import { type ExportFormat, type Library } from '../../core/library.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type ConversationSummary, type Store } from '../../core/ports/storage.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS } from '../ids.ts';

export interface ConversationCommandDeps {
  readonly library: Library;
  readonly store: Store;
  readonly clock: Clock;
  readonly chat: { readonly shown: string | undefined; open(id: string): Promise<void>; newChat(): Promise<void> };
  /** Shows the chat view. */
  reveal(): Promise<void>;
}

export function conversationCommands(deps: ConversationCommandDeps) {
  const { library, chat } = deps;
  return {
    [COMMANDS.openConversation]: async () => {
      const chosen = await choose(deps, 'Select a conversation to open', { withShown: false });
      if (chosen !== undefined) await Promise.all([deps.reveal(), chat.open(chosen.id)]);
    },
    [COMMANDS.renameConversation]: async () => {
      const chosen = await shownOrChosen(deps, 'Select a conversation to rename');
      if (chosen === undefined) return;
      const title = await vscode.window.showInputBox({
        title: 'Rename Conversation',
        value: chosen.title,
        validateInput: (value) => (value.trim() === '' ? 'Enter at least one character.' : undefined),
      });
      if (title !== undefined) await valueOrShowFailure(library.rename(chosen.id, title));
    },
    [COMMANDS.forkConversation]: async () => {
      const chosen = await shownOrChosen(deps, 'Select a conversation to fork');
      const fork = chosen && (await valueOrShowFailure(library.fork(chosen.id)));
      if (fork !== undefined) await Promise.all([deps.reveal(), chat.open(fork)]);
    },
    [COMMANDS.exportConversation]: async () => {
      const chosen = await shownOrChosen(deps, 'Select a conversation to export');
      const format = chosen && (await chooseFormat());
      const text = format && (await valueOrShowFailure(library.export(chosen.id, format)));
      if (text === undefined) return;
      const language = format === 'json' ? 'json' : 'markdown';
      // Untitled: the user decides whether and where to save it.
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language, content: text }));
    },
    [COMMANDS.deleteConversation]: async () => {
      const chosen = await choose(deps, 'Select a conversation to delete', { withShown: true });
      if (chosen === undefined) return;
      const question = `Delete “${conversationLabel(chosen)}”? This cannot be undone.`;
      const answer = await vscode.window.showWarningMessage(question, { modal: true }, 'Delete');
      if (answer !== 'Delete') return;
      if (chosen.id === chat.shown) await chat.newChat();
      await valueOrShowFailure(library.remove(chosen.id));
    },
  } satisfies Partial<CommandHandlers>;
}

/** Undefined after the failure was shown. */
async function valueOrShowFailure<T>(result: Promise<Result<T>>): Promise<T | undefined> {
  const settled = await result;
  if (settled.ok) return settled.value;
  await vscode.window.showErrorMessage(describeFailure(settled.failure));
  return undefined;
}

async function shownOrChosen(deps: ConversationCommandDeps, title: string): Promise<ConversationSummary | undefined> {
  const listed = await valueOrShowFailure(deps.store.list());
  const shown = listed?.find(({ id }) => id === deps.chat.shown);
  return shown ?? choose(deps, title, { withShown: true });
}

async function choose(
  deps: ConversationCommandDeps,
  title: string,
  options: { readonly withShown: boolean },
): Promise<ConversationSummary | undefined> {
  const listed = await valueOrShowFailure(deps.store.list());
  if (listed === undefined) return undefined;
  const offered = listed.filter(({ id }) => options.withShown || id !== deps.chat.shown);
  if (offered.length === 0) {
    await vscode.window.showInformationMessage('There are no other conversations.');
    return undefined;
  }
  const items = offered.map((summary) => ({
    label: conversationLabel(summary),
    ...(summary.problem === undefined
      ? { description: describeAge(deps.clock.now() - summary.lastActivity) }
      : { detail: summary.problem }),
    summary,
  }));
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.summary;
}

async function chooseFormat(): Promise<ExportFormat | undefined> {
  const items = [
    { label: 'Markdown', description: 'for reading', format: 'markdown' as const },
    { label: 'JSON', description: 'all events, for programs', format: 'json' as const },
  ];
  return (await vscode.window.showQuickPick(items, { title: 'Export As' }))?.format;
}

function conversationLabel({ id, title, problem }: ConversationSummary): string {
  if (problem !== undefined) return `Damaged conversation ${id}`;
  return title === '' ? 'Empty conversation' : title;
}

function describeAge(milliseconds: number): string {
  const minutes = Math.max(0, Math.round(milliseconds / 60_000));
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} days ago`;
}
