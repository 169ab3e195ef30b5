// Commands for whole conversations: open, rename, fork, export, delete. They ask the user, then call the client.
import * as vscode from 'vscode';
import { type Result } from '../../base/errors.ts';
import { type Client } from '../../core/client/client.ts';
import { type PageHost } from '../../core/frontend/page/pageHost.ts';
import { type ExportFormat } from '../../core/library.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type ConversationSummary, type Store } from '../../core/ports/storage.ts';
import { type CommandHandlers } from '../commands.ts';
import { COMMANDS } from '../ids.ts';
import { failureMessage } from '../failureMessage.ts';
import { describeAge } from '../notifications/notificationTexts.ts';

export interface ConversationCommandDeps {
  readonly client: Pick<Client, 'call'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly page: Pick<PageHost, 'shown' | 'open' | 'forget'>;
  /** Shows the chat view. */
  reveal(): Promise<void>;
  /** Shows the list of conversations in the panel. */
  showList(): void;
}

/** Exports a conversation into a new document; the user decides whether and where to save it. */
export async function exportConversation({ client }: Pick<ConversationCommandDeps, 'client'>, conversation: string) {
  const format = await chooseFormat();
  const exported = format && (await valueOrShowFailure(client.call('export', { conversation, format })));
  if (exported === undefined) return;
  const language = format === 'json' ? 'json' : 'markdown';
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language, content: exported.text }));
}

export async function confirmDelete(store: Pick<Store, 'list'>, id: string): Promise<boolean> {
  const chosen = (await valueOrShowFailure(store.list()))?.find((summary) => summary.id === id);
  if (chosen === undefined) return false;
  const question = vscode.l10n.t('Delete “{0}”? This cannot be undone.', conversationLabel(chosen));
  const confirm = vscode.l10n.t('Delete');
  return (await vscode.window.showWarningMessage(question, { modal: true }, confirm)) === confirm;
}

export function conversationCommands(deps: ConversationCommandDeps) {
  const { page, client } = deps;
  return {
    [COMMANDS.openConversation]: async () => {
      const chosen = await choose(deps, vscode.l10n.t('Select a conversation to open'), { withShown: false });
      if (chosen !== undefined) await Promise.all([deps.reveal(), page.open(chosen.id)]);
    },
    [COMMANDS.showConversations]: async () => {
      await deps.reveal();
      deps.showList();
    },
    [COMMANDS.renameConversation]: async () => {
      const chosen = await shownOrChosen(deps, vscode.l10n.t('Select a conversation to rename'));
      if (chosen === undefined) return;
      const title = await vscode.window.showInputBox({
        title: vscode.l10n.t('Rename Conversation'),
        value: chosen.title,
        validateInput: (value) => (value.trim() === '' ? vscode.l10n.t('Enter at least one character.') : undefined),
      });
      if (title !== undefined) await valueOrShowFailure(client.call('rename', { conversation: chosen.id, title }));
    },
    [COMMANDS.forkConversation]: async () => {
      const chosen = await shownOrChosen(deps, vscode.l10n.t('Select a conversation to fork'));
      const forked = chosen && (await valueOrShowFailure(client.call('fork', { conversation: chosen.id })));
      if (forked !== undefined) await Promise.all([deps.reveal(), page.open(forked.conversation)]);
    },
    [COMMANDS.exportConversation]: async () => {
      const chosen = await shownOrChosen(deps, vscode.l10n.t('Select a conversation to export'));
      if (chosen !== undefined) await exportConversation(deps, chosen.id);
    },
    [COMMANDS.deleteConversation]: async () => {
      const chosen = await choose(deps, vscode.l10n.t('Select a conversation to delete'), { withShown: true });
      if (chosen === undefined || !(await confirmDelete(deps.store, chosen.id))) return;
      const removed = await valueOrShowFailure(client.call('delete', { conversation: chosen.id }));
      if (removed !== undefined) page.forget(chosen.id);
    },
  } satisfies Partial<CommandHandlers>;
}

/** Shows a failure to the user; then the value is undefined. */
async function valueOrShowFailure<T>(result: Promise<Result<T>>): Promise<T | undefined> {
  const settled = await result;
  if (settled.ok) return settled.value;
  await vscode.window.showErrorMessage(failureMessage(settled.failure));
  return undefined;
}

async function shownOrChosen(deps: ConversationCommandDeps, title: string): Promise<ConversationSummary | undefined> {
  const listed = await valueOrShowFailure(deps.store.list());
  const shown = listed?.find(({ id }) => id === deps.page.shown);
  return shown ?? choose(deps, title, { withShown: true });
}

async function choose(
  deps: ConversationCommandDeps,
  title: string,
  options: { readonly withShown: boolean },
): Promise<ConversationSummary | undefined> {
  const listed = await valueOrShowFailure(deps.store.list());
  if (listed === undefined) return undefined;
  const offered = listed.filter(({ id }) => options.withShown || id !== deps.page.shown);
  if (offered.length === 0) {
    await vscode.window.showInformationMessage(vscode.l10n.t('There are no other conversations.'));
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
    { label: 'Markdown', description: vscode.l10n.t('for reading'), format: 'markdown' as const },
    { label: 'JSON', description: vscode.l10n.t('all events, for programs'), format: 'json' as const },
  ];
  return (await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Export As') }))?.format;
}

function conversationLabel({ id, title, problem }: ConversationSummary): string {
  if (problem !== undefined) return vscode.l10n.t('Damaged conversation {0}', id);
  return title === '' ? vscode.l10n.t('Empty conversation') : title;
}
