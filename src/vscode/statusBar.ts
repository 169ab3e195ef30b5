// The status bar item: an open approval or question, otherwise the pending notifications of the shown conversation.
import * as vscode from 'vscode';
import { type Disposable } from '../base/disposable.ts';
import { type Level } from '../protocol/notification.ts';
import { COMMANDS } from './ids.ts';

export interface StatusBarState {
  readonly approvals: number;
  readonly questions: number;
  readonly running: boolean;
  /** The shown conversation's name on the hub. */
  readonly agent?: string | undefined;
  readonly pending: { readonly count: number; readonly worst: Level | null; readonly newest: readonly string[] };
}

const COLOURS: Partial<Record<Level, string>> = {
  warning: 'statusBarItem.warningBackground',
  error: 'statusBarItem.errorBackground',
  critical: 'statusBarItem.errorBackground',
};

export class StatusBar implements Disposable {
  readonly #item: vscode.StatusBarItem;

  constructor() {
    this.#item = vscode.window.createStatusBarItem('earshot.status', vscode.StatusBarAlignment.Right, 100);
    this.#item.name = 'Earshot';
    this.#item.command = COMMANDS.openChat;
    this.update({ approvals: 0, questions: 0, running: false, pending: { count: 0, worst: null, newest: [] } });
    this.#item.show();
  }

  update(state: StatusBarState): void {
    const { pending } = state;
    const open = openRequest(state);
    const worst = pending.worst === null ? undefined : COLOURS[pending.worst];
    this.#item.text = open?.text ?? statusText(state);
    const colour = open !== undefined ? 'statusBarItem.warningBackground' : worst;
    this.#item.backgroundColor = colour === undefined ? undefined : new vscode.ThemeColor(colour);
    const lines = open === undefined ? tooltipLines(state) : [open.tooltip];
    this.#item.tooltip = lines.join('\n');
    this.#item.accessibilityInformation = { label: `Earshot: ${lines.join(' ')}` };
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** Requests to the user take precedence. */
function openRequest({ approvals, questions }: StatusBarState): { text: string; tooltip: string } | undefined {
  if (approvals > 0) {
    return {
      text: '$(question) Earshot: waiting for approval',
      tooltip: vscode.l10n.t('Waiting for approval of a tool call.'),
    };
  }
  if (questions === 0) return undefined;
  return {
    text: '$(question) Earshot: waiting for answer',
    tooltip: vscode.l10n.t('Waiting for your answer to a question.'),
  };
}

function statusText({ running, pending }: StatusBarState): string {
  const icon = running ? '$(loading~spin)' : pending.count > 0 ? '$(bell-dot)' : '$(bell)';
  return pending.count > 0 ? `${icon} Earshot ${pending.count}` : `${icon} Earshot`;
}

function tooltipLines({ running, pending, agent }: StatusBarState): string[] {
  const work = running ? vscode.l10n.t('The agent is working.') : vscode.l10n.t('Click to open the chat.');
  const name = agent === undefined ? [] : [vscode.l10n.t('Other agents know this conversation as {0}.', agent)];
  if (pending.count === 0) return [work, vscode.l10n.t('No pending notifications.'), ...name];
  const count =
    pending.count === 1
      ? vscode.l10n.t('1 pending notification:')
      : vscode.l10n.t('{0} pending notifications:', pending.count);
  return [work, count, ...pending.newest, ...name];
}
