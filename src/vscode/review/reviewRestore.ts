// The command Restore to Before a Turn: choose a turn, choose files and the conversation, restore them.
import * as vscode from 'vscode';
import { type Result } from '../../base/errors.ts';
import { shortList } from '../../base/text.ts';
import {
  isChosen,
  type PlanDeps,
  planRestore,
  type RestoreEntry,
  type RestorePlan,
} from '../../core/checkpoints/restore.ts';
import { type Reviewed } from '../../core/checkpoints/review.ts';
import { CHAT_VIEW } from '../ids.ts';
import { toUri } from '../workspace/fileUris.ts';
import { beforeUri } from './reviewContent.ts';
import { failureMessage } from '../failureMessage.ts';

export interface Restoring {
  readonly deps: PlanDeps;
  restore(request: string, files: readonly Pick<RestoreEntry, 'path' | 'version'>[]): Promise<Result<Reviewed>>;
  /** Continues the conversation in a fork that ends before this request. Absent: only files can be restored. */
  rewind?(request: string): Promise<Result<void>>;
}

interface Row extends vscode.QuickPickItem {
  readonly entry?: RestoreEntry;
  readonly isConversation?: true;
}

interface Chosen {
  readonly entries: readonly RestoreEntry[];
  readonly conversation: boolean;
}

const COMPARE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('diff'),
  tooltip: vscode.l10n.t('Show the current file'),
};

/** Every turn of the conversation, the newest first. Resolves to undefined if no file was to be restored. */
export async function chooseTurn(restoring: Restoring): Promise<Result<Reviewed> | undefined> {
  const turns = restoring.deps.live()?.log.state.changes.turns.filter(({ request }) => request !== '') ?? [];
  if (turns.length === 0) {
    await vscode.window.showInformationMessage(vscode.l10n.t('There are no turns to restore to.'));
    return undefined;
  }
  const items = turns.toReversed().map(({ title, request, steps }) => {
    const files = new Set(steps.map(({ path }) => path)).size;
    const description = vscode.l10n.t('files changed: {0}', files);
    return { label: title === '' ? vscode.l10n.t('(no text)') : title, description, request };
  });
  const title = vscode.l10n.t('Select the turn to restore to');
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
  return chosen === undefined ? undefined : restoreTo(restoring, chosen.request);
}

/** Shows what would be restored, lets the user choose files and the conversation, and restores them. */
export async function restoreTo(restoring: Restoring, request: string): Promise<Result<Reviewed> | undefined> {
  const location = { viewId: CHAT_VIEW };
  const planned = await vscode.window.withProgress({ location }, () => planRestore(restoring.deps, request));
  if (!planned.ok) return planned;
  const plan = planned.value;
  const { rewind, deps } = restoring;
  if (plan.entries.length === 0 && rewind === undefined) {
    await vscode.window.showInformationMessage(nothingToRestore(plan));
    return undefined;
  }
  const title = rewind && (deps.live()?.log.state.summary.title ?? '');
  const chosen = await chooseParts(plan, title);
  if (chosen === undefined) return undefined;
  const files = chosen.entries.map(({ path, version }) => ({ path, version }));
  const outcome = files.length === 0 ? undefined : await restoring.restore(request, files);
  // With files that could not be restored, the conversation would not fit them.
  if (outcome?.ok !== false && chosen.conversation) {
    const rewound = await rewind?.(request);
    if (rewound?.ok === false) await vscode.window.showWarningMessage(failureMessage(rewound.failure));
  }
  return outcome;
}

/** Says that nothing changed only if that is known. */
function nothingToRestore({ othersUnknown, leftOut }: RestorePlan): string {
  if (othersUnknown !== undefined)
    return vscode.l10n.t(
      'Earshot’s edits of this turn are undone already. Other changes are not known: {0}',
      othersUnknown,
    );
  if (leftOut.length > 0)
    return vscode.l10n.t(
      'All captured files already have their content from before this turn. {0}',
      leftOutText(leftOut),
    );
  return vscode.l10n.t('All files already have their content from before this turn.');
}

function leftOutText(leftOut: readonly string[]): string {
  return vscode.l10n.t('Not captured, so not restored: {0}', shortList(leftOut));
}

/** `title`: that of the conversation, if it can be restored too. */
function chooseParts(plan: RestorePlan, title: string | undefined): Promise<Chosen | undefined> {
  const picker = vscode.window.createQuickPick<Row>();
  picker.title = vscode.l10n.t('Restore to before “{0}”', plan.turn.title);
  picker.placeholder =
    title === undefined
      ? vscode.l10n.t('Checked files are restored. You can undo this.')
      : vscode.l10n.t('Check what is restored. You can undo this.');
  picker.canSelectMany = true;
  picker.matchOnDescription = true;
  picker.ignoreFocusOut = true;
  picker.items = [...(title === undefined ? [] : conversationRows(title)), ...rowsOf(plan)];
  const isOnlyConversation = plan.entries.length === 0;
  picker.selectedItems = picker.items.filter(({ entry, isConversation }) =>
    entry === undefined ? isConversation === true && isOnlyConversation : isChosen(entry),
  );
  const { promise, resolve } = Promise.withResolvers<Chosen | undefined>();
  const held = [
    picker.onDidAccept(() => {
      resolve({
        entries: picker.selectedItems.flatMap(({ entry }) => entry ?? []),
        conversation: picker.selectedItems.some(({ isConversation }) => isConversation === true),
      });
      picker.hide();
    }),
    picker.onDidTriggerItemButton(({ item }) => void showEntry(item).then(undefined, () => undefined)),
    picker.onDidHide(() => resolve(undefined)),
  ];
  picker.show();
  return promise.finally(() => {
    for (const one of held) one.dispose();
    picker.dispose();
  });
}

async function showEntry({ entry }: Row): Promise<void> {
  if (entry?.file === undefined || entry.present === undefined) return;
  const uri = toUri(entry.file);
  const options = { preview: true, preserveFocus: true };
  if (entry.by === 'agent')
    await vscode.commands.executeCommand('vscode.diff', beforeUri(uri, entry.path), uri, undefined, options);
  else await vscode.window.showTextDocument(uri, options);
}

function conversationRows(title: string): Row[] {
  const named = title === '' ? vscode.l10n.t('Empty conversation') : title;
  return [
    { label: vscode.l10n.t('conversation'), kind: vscode.QuickPickItemKind.Separator },
    {
      label: `$(comment-discussion) ${vscode.l10n.t('Go back to before this message')}`,
      detail: vscode.l10n.t(
        'Continues in a fork, with the message in the composer. “{0}” stays in the list of conversations.',
        named,
      ),
      isConversation: true,
    },
  ];
}

/** The rows in groups: restored files, files with conflicts, files that others changed. */
function rowsOf(plan: RestorePlan): Row[] {
  const { entries, othersUnknown, leftOut } = plan;
  const separator = (label: string): Row => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const group = (label: string, rows: readonly RestoreEntry[]): Row[] =>
    rows.length === 0 ? [] : [separator(label), ...rows.map(rowOf)];
  if (entries.length === 0) return [separator(nothingToRestore(plan))];
  const stays = entries.filter((entry) => entry.by === 'agent' && !isChosen(entry));
  return [
    ...group(vscode.l10n.t('changed by Earshot'), entries.filter(isChosen)),
    ...group(vscode.l10n.t('not restored unless checked'), stays),
    ...group(
      vscode.l10n.t('changed since by you or another program: not restored unless checked'),
      entries.filter((entry) => entry.by === 'others'),
    ),
    ...(othersUnknown === undefined ? [] : [separator(othersUnknown)]),
    ...(leftOut.length === 0 ? [] : [separator(leftOutText(leftOut))]),
  ];
}

function rowOf(entry: RestoreEntry): Row {
  const { path, outcome, reason, beneath } = entry;
  const outcomes: Record<RestoreEntry['outcome'], [icon: string, text: string]> = {
    restored: ['history', vscode.l10n.t('former content is restored')],
    merged: ['git-merge', vscode.l10n.t('Earshot’s changes are undone, yours are kept')],
    deleted: ['trash', vscode.l10n.t('is deleted: did not exist before')],
    created: ['new-file', vscode.l10n.t('is created again')],
    same: ['check', vscode.l10n.t('is unchanged')],
    clash: ['warning', vscode.l10n.t('conflict: you changed the same lines')],
    impossible: ['circle-slash', reason ?? vscode.l10n.t('cannot be restored')],
  };
  const [icon, text] = outcomes[outcome];
  const description = beneath === true ? vscode.l10n.t('{0}; your unsaved changes are kept', text) : text;
  return {
    label: `$(${icon}) ${path}`,
    description,
    entry,
    ...(entry.present !== undefined && { buttons: [COMPARE] }),
  };
}
