// “Show Hub State”: who is on the hub, whether it is joined with other machines, and what has not reached them.
import * as vscode from 'vscode';
import { describeError } from '../../base/errors.ts';
import { type StateRow, stateRows } from './linkTexts.ts';
import { type WindowHub } from './windowHub.ts';

export async function showHubState(hub: WindowHub, showLog: () => void): Promise<void> {
  const { t } = vscode.l10n;
  if (!hub.isOn) {
    void vscode.window.showInformationMessage(
      t('There is no hub: it needs a trusted folder on a disk and the setting earshot.hub.enabled.'),
    );
    return;
  }
  const row = await vscode.window.showQuickPick(readRows(hub), {
    title: t('Hub of This Folder'),
    placeHolder: t('Agents and machines that can send each other messages'),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (row?.opens === 'log') showLog();
  if (row?.opens === 'settings')
    await vscode.commands.executeCommand('workbench.action.openSettings', '@ext:earshot.earshot earshot.hub');
}

async function readRows(hub: WindowHub): Promise<StateRow[]> {
  const { t } = vscode.l10n;
  try {
    const state = await hub.readState();
    if (state !== undefined) return stateRows(state, process.pid, t);
    return [{ label: t('$(loading~spin) The hub is being joined. Try again in a moment.') }];
  } catch (error) {
    return [{ label: t('$(error) The hub does not answer'), detail: describeError(error), opens: 'log' }];
  }
}
