// The status-bar item: what would be delivered to the shown conversation now; a waiting approval outranks it.
import * as vscode from 'vscode';
import { type Disposable } from '../base/disposable.ts';
import { type Level } from '../protocol/notification.ts';
import { COMMANDS } from './ids.ts';

export interface StatusBarState {
  readonly approvals: number;
  readonly questions: number;
  readonly running: boolean;
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
    const waiting = waitsFor(state);
    const worst = pending.worst === null ? undefined : COLOURS[pending.worst];
    this.#item.text = waiting?.text ?? describe(state);
    const colour = waiting !== undefined ? 'statusBarItem.warningBackground' : worst;
    this.#item.backgroundColor = colour === undefined ? undefined : new vscode.ThemeColor(colour);
    const lines = waiting === undefined ? tooltipLines(state) : [waiting.tooltip];
    this.#item.tooltip = lines.join('\n');
    this.#item.accessibilityInformation = { label: `Earshot: ${lines.join(' ')}` };
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** Whatever waits for the user comes before everything else. */
function waitsFor({ approvals, questions }: StatusBarState): { text: string; tooltip: string } | undefined {
  if (approvals > 0) {
    return { text: '$(question) Earshot: approve?', tooltip: vscode.l10n.t('A tool call waits for your approval.') };
  }
  if (questions === 0) return undefined;
  return { text: '$(question) Earshot asks', tooltip: vscode.l10n.t('A question waits for your answer.') };
}

function describe({ running, pending }: StatusBarState): string {
  const icon = running ? '$(loading~spin)' : pending.count > 0 ? '$(bell-dot)' : '$(bell)';
  return pending.count > 0 ? `${icon} Earshot ${pending.count}` : `${icon} Earshot`;
}

function tooltipLines({ running, pending }: StatusBarState): string[] {
  const work = running ? vscode.l10n.t('The agent is working.') : vscode.l10n.t('Open the chat.');
  if (pending.count === 0) return [work, vscode.l10n.t('Nothing waits to be told to the model.')];
  return [work, vscode.l10n.t('{0} waiting to be told to the model:', pending.count), ...pending.newest];
}
