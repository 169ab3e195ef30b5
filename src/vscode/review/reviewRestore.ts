// Decides how a person restores the files to before a turn: which turn, what it would do file by file, and what of it is done.
import * as vscode from 'vscode';
import { describeFailure, type Result } from '../../base/errors.ts';
import {
  isChosen,
  planRestore,
  type RestoreDeps,
  type RestoreEntry,
  type RestorePlan,
  restore,
} from '../../core/checkpoints/restore.ts';
import { type Reviewed } from '../../core/checkpoints/review.ts';
import { CHAT_VIEW } from '../ids.ts';
import { toUri } from '../workspace/fileUris.ts';
import { beforeUri } from './reviewContent.ts';

export interface Restoring {
  readonly deps: RestoreDeps;
  tell(result: Result<Reviewed>): Promise<void>;
}

interface Row extends vscode.QuickPickItem {
  readonly entry?: RestoreEntry;
}

const COMPARE: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon('diff'),
  tooltip: vscode.l10n.t('Show the file as it is now'),
};

/** Every turn of the conversation, the newest first. */
export async function chooseTurn(restoring: Restoring): Promise<void> {
  const turns = restoring.deps.live()?.log.state.changes.turns.filter(({ request }) => request !== '') ?? [];
  if (turns.length === 0) {
    await vscode.window.showInformationMessage(vscode.l10n.t('There is no turn to restore to yet.'));
    return;
  }
  const items = turns.toReversed().map(({ title, request, steps }) => {
    const files = new Set(steps.map(({ path }) => path)).size;
    const description = files === 0 ? vscode.l10n.t('no files changed') : vscode.l10n.t('{0} files changed', files);
    return { label: title === '' ? vscode.l10n.t('(no words)') : title, description, request };
  });
  const title = vscode.l10n.t('Restore the files to before which turn?');
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
  if (chosen !== undefined) await restoreTo(restoring, chosen.request);
}

/** Says what it would do, lets the person choose, and does it. */
export async function restoreTo(restoring: Restoring, request: string): Promise<void> {
  const location = { viewId: CHAT_VIEW };
  const planned = await vscode.window.withProgress({ location }, () => planRestore(restoring.deps, request));
  if (!planned.ok) {
    await vscode.window.showWarningMessage(describeFailure(planned.failure));
    return;
  }
  const plan = planned.value;
  if (plan.entries.length === 0) {
    await vscode.window.showInformationMessage(vscode.l10n.t('All files are as they were before this turn.'));
    return;
  }
  const chosen = await ask(plan);
  if (chosen === undefined || chosen.length === 0) return;
  await restoring.tell(await restore(restoring.deps, plan, chosen));
}

function ask(plan: RestorePlan): Promise<readonly RestoreEntry[] | undefined> {
  const picker = vscode.window.createQuickPick<Row>();
  picker.title = vscode.l10n.t('Restore to before “{0}”', plan.turn.title);
  picker.placeholder = vscode.l10n.t('Ticked files are restored. It can be taken back.');
  picker.canSelectMany = true;
  picker.matchOnDescription = true;
  picker.ignoreFocusOut = true;
  picker.items = rowsOf(plan);
  picker.selectedItems = picker.items.filter(({ entry }) => entry !== undefined && isChosen(entry));
  const { promise, resolve } = Promise.withResolvers<readonly RestoreEntry[] | undefined>();
  const held = [
    picker.onDidAccept(() => {
      resolve(picker.selectedItems.flatMap(({ entry }) => entry ?? []));
      picker.hide();
    }),
    picker.onDidTriggerItemButton(({ item }) => void show(item).then(undefined, () => undefined)),
    picker.onDidHide(() => resolve(undefined)),
  ];
  picker.show();
  return promise.finally(() => {
    for (const one of held) one.dispose();
    picker.dispose();
  });
}

async function show({ entry }: Row): Promise<void> {
  if (entry?.file === undefined || entry.present === undefined) return;
  const uri = toUri(entry.file);
  const options = { preview: true, preserveFocus: true };
  if (entry.by === 'agent')
    await vscode.commands.executeCommand('vscode.diff', beforeUri(uri, entry.path), uri, undefined, options);
  else await vscode.window.showTextDocument(uri, options);
}

/** In groups: what is done, what clashes and so stays, what others changed. */
function rowsOf({ entries, othersUnknown }: RestorePlan): Row[] {
  const separator = (label: string): Row => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const group = (label: string, rows: readonly RestoreEntry[]): Row[] =>
    rows.length === 0 ? [] : [separator(label), ...rows.map(rowOf)];
  const stays = entries.filter((entry) => entry.by === 'agent' && !isChosen(entry));
  return [
    ...group(vscode.l10n.t('changed by Earshot'), entries.filter(isChosen)),
    ...group(vscode.l10n.t('stays as it is, unless you tick it'), stays),
    ...group(
      vscode.l10n.t('changed since by you or something else: stays, unless you tick it'),
      entries.filter((entry) => entry.by === 'others'),
    ),
    ...(othersUnknown === undefined ? [] : [separator(othersUnknown)]),
  ];
}

function rowOf(entry: RestoreEntry): Row {
  const { path, outcome, reason, beneath } = entry;
  const words: Record<RestoreEntry['outcome'], [icon: string, text: string]> = {
    restored: ['history', vscode.l10n.t('gets the bytes it had')],
    merged: ['git-merge', vscode.l10n.t('Earshot’s changes go, yours stay')],
    deleted: ['trash', vscode.l10n.t('is deleted: it was not there')],
    created: ['new-file', vscode.l10n.t('is made again')],
    same: ['check', vscode.l10n.t('is as it was')],
    clash: ['warning', vscode.l10n.t('clash: you changed the same lines')],
    impossible: ['circle-slash', reason ?? vscode.l10n.t('cannot be restored')],
  };
  const [icon, text] = words[outcome];
  const description = beneath === true ? vscode.l10n.t('{0}; what you have not saved stays', text) : text;
  return {
    label: `$(${icon}) ${path}`,
    description,
    entry,
    ...(entry.present !== undefined && { buttons: [COMPARE] }),
  };
}
