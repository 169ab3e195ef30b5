// The status bar item: an open approval or question, otherwise the pending notifications of the shown conversation.
import * as vscode from 'vscode';
import { type Disposable } from '../base/disposable.ts';
import { type ConversationActivity, type OtherConversation } from '../protocol/page/conversationsView.ts';
import { type LinkHealth } from '../protocol/hub.ts';
import { linkIcon, linkLines } from './hub/linkTexts.ts';
import { COMMANDS } from './ids.ts';

export interface StatusBarState {
  /** The activity of the shown conversation. */
  readonly activity?: ConversationActivity | undefined;
  readonly others: readonly OtherConversation[];
  /** The shown conversation's name on the hub. */
  readonly agent?: string | undefined;
  /** The server that joins the hubs of several machines. */
  readonly link?: LinkHealth | undefined;
  readonly pending: { readonly count: number; readonly newest: readonly string[] };
}

export class StatusBar implements Disposable {
  readonly #item: vscode.StatusBarItem;

  constructor() {
    this.#item = vscode.window.createStatusBarItem('earshot.status', vscode.StatusBarAlignment.Right, 100);
    this.#item.name = 'Earshot';
    this.#item.command = COMMANDS.openChat;
    this.update({ others: [], pending: { count: 0, newest: [] } });
    this.#item.show();
  }

  update(state: StatusBarState): void {
    const open = openRequest(state);
    this.#item.text = open?.text ?? statusText(state);
    // Only what needs the user is coloured. Notifications, errors included, go to the model by themselves.
    this.#item.backgroundColor =
      open === undefined ? undefined : new vscode.ThemeColor('statusBarItem.warningBackground');
    const lines = open === undefined ? tooltipLines(state) : [open.tooltip];
    this.#item.command = open?.command ?? COMMANDS.openChat;
    this.#item.tooltip = lines.join('\n');
    this.#item.accessibilityInformation = { label: `Earshot: ${lines.join(' ')}` };
  }

  dispose(): void {
    this.#item.dispose();
  }
}

interface OpenRequestText {
  readonly text: string;
  readonly tooltip: string;
  /** Opens the waiting conversation. */
  readonly command?: vscode.Command;
}

/** Requests to the user take precedence, those of the shown conversation first. */
function openRequest({ activity, others }: StatusBarState): OpenRequestText | undefined {
  if (activity === 'approval' || activity === 'question') return REQUESTS[activity]();
  const other = others.find((one) => one.activity === 'approval') ?? others.find((one) => one.activity === 'question');
  if (other?.activity !== 'approval' && other?.activity !== 'question') return undefined;
  const { text, tooltip } = REQUESTS[other.activity]();
  const title = vscode.l10n.t('Open Conversation');
  return {
    text,
    tooltip: `${tooltip} ${vscode.l10n.t('Conversation: {0}', other.title)}`,
    command: { command: COMMANDS.openWaiting, title, arguments: [other.id] },
  };
}

const REQUESTS = {
  approval: (): OpenRequestText => ({
    text: `$(question) ${vscode.l10n.t('Earshot: waiting for approval')}`,
    tooltip: vscode.l10n.t('Waiting for approval of a tool call.'),
  }),
  question: (): OpenRequestText => ({
    text: `$(question) ${vscode.l10n.t('Earshot: waiting for answer')}`,
    tooltip: vscode.l10n.t('Waiting for your answer to a question.'),
  }),
};

function statusText({ activity, pending, link }: StatusBarState): string {
  const trouble = linkIcon(link);
  const icon = activity === 'running' ? '$(loading~spin)' : pending.count > 0 ? '$(bell-dot)' : '$(bell)';
  const text = pending.count > 0 ? `${icon} Earshot ${pending.count}` : `${icon} Earshot`;
  return trouble === undefined ? text : `${text} ${trouble}`;
}

function tooltipLines({ activity, others, pending, agent, link }: StatusBarState): string[] {
  const work =
    activity === 'running' ? vscode.l10n.t('The agent is working.') : vscode.l10n.t('Click to open the chat.');
  const name = agent === undefined ? [] : [vscode.l10n.t('Other agents know this conversation as {0}.', agent)];
  return [work, ...pendingLines(pending), ...others.map(describeOther), ...name, ...linkLines(link, vscode.l10n.t)];
}

function pendingLines({ count, newest }: StatusBarState['pending']): string[] {
  if (count === 0) return [vscode.l10n.t('No pending notifications.')];
  const head =
    count === 1 ? vscode.l10n.t('1 pending notification:') : vscode.l10n.t('{0} pending notifications:', count);
  return [head, ...newest];
}

function describeOther({ title, activity }: OtherConversation): string {
  switch (activity) {
    case 'running':
      return vscode.l10n.t('Running: {0}', title);
    case 'failed':
      return vscode.l10n.t('Failed: {0}', title);
    case 'unread':
      return vscode.l10n.t('Finished: {0}', title);
    case 'approval':
    case 'question':
      return vscode.l10n.t('Waiting for you: {0}', title);
  }
}
