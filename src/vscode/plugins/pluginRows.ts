// One plugin as a row of the Program Plugins view.
import * as vscode from 'vscode';
import { printPath } from '../../base/printPath.ts';
import { type ListenConsent } from '../../plugins/host/consent.ts';
import { type PluginState, type PluginStatus } from '../../plugins/host/pluginStatus.ts';
import { COMMANDS } from '../ids.ts';

const ICONS: Readonly<Record<PluginState, readonly [icon: string, color?: string]>> = {
  denied: ['circle-slash'],
  not_approved: ['unverified', 'list.warningForeground'],
  stopped: ['debug-pause'],
  running: ['play-circle', 'testing.iconPassed'],
  stopping: ['loading~spin'],
  failed: ['error', 'list.errorForeground'],
};

export function pluginRow(status: PluginStatus): vscode.TreeItem {
  const { name, state, detail, command, description, approve, startsWithWindow, attached } = status;
  const row = new vscode.TreeItem(name);
  const [icon, color] = ICONS[state];
  const shown = stateName(state, attached);
  row.description = detail === undefined ? shown : `${shown} – ${detail}`;
  row.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
  row.contextValue = attached ? 'attached' : state;
  const click = clickOf(status);
  if (click !== undefined) row.command = { ...click, arguments: [{ name }] };
  row.accessibilityInformation = { label: `${name}, ${row.description}` };
  row.tooltip = [
    description === undefined ? name : `${description.name} ${description.version}: ${description.description}`,
    ...(command.length === 0 ? [] : [vscode.l10n.t('Command: {0}', command.join(' '))]),
    ...(startsWithWindow ? [vscode.l10n.t('Starts with each window.')] : []),
    approve
      ? vscode.l10n.t('May answer approvals and questions.')
      : vscode.l10n.t('Watches approvals and questions; may not answer them.'),
  ].join('\n');
  return row;
}

/** What a click on a row does: the next step of its state. */
function clickOf({ state, attached }: PluginStatus): { title: string; command: string } | undefined {
  if (state === 'denied') return undefined;
  if (state === 'not_approved') return { title: vscode.l10n.t('Review…'), command: COMMANDS.approvePlugin };
  return attached ? undefined : { title: vscode.l10n.t('Show Log'), command: COMMANDS.showPluginLog };
}

/** An outside agent that waits for the user's answer; a click asks again. */
export function listenRow({ agent, version }: ListenConsent): vscode.TreeItem {
  const row = new vscode.TreeItem(agent);
  row.description = vscode.l10n.t('Wants notifications – waiting for your answer');
  row.iconPath = new vscode.ThemeIcon('bell-dot', new vscode.ThemeColor('list.warningForeground'));
  row.contextValue = 'not_approved';
  row.tooltip = `${agent} ${printPath(version)}`;
  row.accessibilityInformation = { label: `${agent}, ${row.description}` };
  row.command = { command: COMMANDS.approvePlugin, title: row.description, arguments: [{ name: agent }] };
  return row;
}

function stateName(state: PluginState, attached: boolean): string {
  if (attached) return vscode.l10n.t('Attached');
  switch (state) {
    case 'denied':
      return vscode.l10n.t('Denied by the settings');
    case 'not_approved':
      return vscode.l10n.t('Not approved');
    case 'stopped':
      return vscode.l10n.t('Not running');
    case 'running':
      return vscode.l10n.t('Running');
    case 'stopping':
      return vscode.l10n.t('Stopping');
    case 'failed':
      return vscode.l10n.t('Failed');
  }
}
