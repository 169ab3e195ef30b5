// The rows of the view of MCP servers for subscriptions of open conversations to events.
import * as vscode from 'vscode';
import { printPath } from '../../base/printPath.ts';
import { type SubscriptionRow } from '../../producers/mcpEvents/mcpEvents.ts';

/** `target`: the row for which a command was chosen; it may show an earlier state. */
export function isSameRow({ conversation, subscription }: SubscriptionRow, target: unknown): boolean {
  const { conversation: other, subscription: shown } = (target ?? {}) as Partial<SubscriptionRow>;
  return other === conversation && shown?.id === subscription.id;
}

export function subscriptionItem(row: SubscriptionRow): vscode.TreeItem {
  const { conversation, subscription, problem } = row;
  const { event, name, id, paused, grant, arguments: args } = subscription;
  const title = row.title === '' ? vscode.l10n.t('New Chat') : row.title;
  const item = new vscode.TreeItem(printPath(event));
  const state = stateOf(row);
  item.id = `${conversation}:${id}`;
  item.description = `${title} · ${state}`;
  item.iconPath = iconOf(paused, problem);
  item.contextValue = paused ? 'pausedEvents' : 'events';
  item.tooltip = [
    vscode.l10n.t('The conversation “{0}” is subscribed to “{1}”.', title, printPath(name)),
    ...(args === undefined ? [] : [JSON.stringify(args).slice(0, 500)]),
    state,
    ...(grant === undefined ? [] : [vscode.l10n.t('Its events may start turns without you.')]),
    ...(problem === undefined || paused ? [] : [problem]),
  ].join('\n');
  item.accessibilityInformation = { label: `${printPath(event)}, ${title}, ${state}` };
  return item;
}

function stateOf({ subscription: { paused, count }, problem }: SubscriptionRow): string {
  if (paused) return vscode.l10n.t('paused');
  if (problem !== undefined) return vscode.l10n.t('waits for the server');
  return count === 1 ? vscode.l10n.t('1 event') : vscode.l10n.t('{0} events', count);
}

function iconOf(paused: boolean, problem: string | undefined): vscode.ThemeIcon {
  if (paused) return new vscode.ThemeIcon('debug-pause');
  if (problem === undefined) return new vscode.ThemeIcon('broadcast');
  return new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
}
