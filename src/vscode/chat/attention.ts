// Draws the user's attention to open requests and ended turns: badge, toast, sound, system notice.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type OpenRequest } from '../../core/frontend/liveTranscript.ts';
import { showSystemNotice } from '../../node/systemNotice.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';

export interface AttentionDeps {
  readonly earshot: Earshot;
  readonly frontend: ChatFrontend;
  readonly view: {
    readonly visible: boolean;
    setBadge(value: number, tooltip: string): void;
    onDidShow: vscode.Event<void>;
  };
  readonly waiting: Pick<WaitingApprovals, 'all' | 'onDidChange'>;
  settings(): Settings;
  shown(): string | undefined;
  /** Shows the view with this conversation. */
  show(conversation: string): Promise<void>;
  report(error: unknown): void;
}

export class Attention implements Disposable {
  readonly #deps: AttentionDeps;
  readonly #held = new DisposableStore();
  /** Requests that the user was notified of. */
  #notified = new Set<string>();
  /** Conversations whose turns ended unseen. */
  readonly #ended = new Set<string>();

  constructor(deps: AttentionDeps) {
    this.#deps = deps;
    this.#held.add(deps.frontend.onDidChangeRequests(() => this.#requestsChanged()));
    this.#held.add(deps.waiting.onDidChange(() => this.#updateBadge()));
    this.#held.add(
      deps.earshot.onDidChange(({ conversation, folded }) => {
        if (folded?.event.type === 'turn_ended') this.#turnEnded(conversation, folded.event.outcome);
      }),
    );
    this.#held.add(
      deps.view.onDidShow(() => {
        this.#ended.clear();
        this.#updateBadge();
      }),
    );
  }

  dispose(): void {
    this.#held.dispose();
  }

  #requestsChanged(): void {
    const open = this.#deps.frontend.openRequests;
    const fresh = open.filter((request) => !this.#notified.has(requestKey(request)));
    this.#notified = new Set(open.map(requestKey));
    this.#updateBadge();
    for (const request of fresh) {
      const { subagent } = this.#deps.earshot.get(request.conversation)?.log.state.summary ?? {};
      const text = describeRequest(request, subagent?.name);
      this.#signal(text);
      const unseen = !this.#deps.view.visible || request.conversation !== this.#deps.shown();
      if (unseen) this.#toast(text, request.conversation);
    }
  }

  #turnEnded(conversation: string, outcome: 'done' | 'stopped' | 'error'): void {
    const { title, subagent } = this.#deps.earshot.get(conversation)?.log.state.summary ?? { title: '' };
    // The end of a subagent is reported to the agent that started it.
    if (outcome === 'stopped' || subagent !== undefined) return;
    const text =
      outcome === 'error'
        ? vscode.l10n.t('Earshot failed: {0}', title)
        : vscode.l10n.t('Earshot has answered: {0}', title);
    this.#signal(text);
    if (this.#deps.view.visible) return;
    this.#ended.add(conversation);
    this.#updateBadge();
    this.#toast(text, conversation);
  }

  #updateBadge(): void {
    const waiting = this.#deps.frontend.openRequests.length + this.#deps.waiting.all.length;
    const count = waiting + (this.#deps.view.visible ? 0 : this.#ended.size);
    const tooltip =
      waiting > 0 ? vscode.l10n.t('{0} waiting for you', waiting) : vscode.l10n.t('{0} answered', this.#ended.size);
    this.#deps.view.setBadge(count, tooltip);
  }

  #toast(text: string, conversation: string): void {
    if (!this.#deps.settings()['attention.toast']) return;
    const action = vscode.l10n.t('Show');
    const shown = vscode.window.showInformationMessage(text, action);
    const go = async () => {
      if ((await shown) === action) await this.#deps.show(conversation);
    };
    void go().catch(this.#deps.report);
  }

  /** Plays the sound, and shows a system notice while the window is not focused, if these are enabled. */
  #signal(text: string): void {
    const settings = this.#deps.settings();
    if (settings['attention.sound']) this.#deps.frontend.reply({ type: 'sound' });
    const isLocal = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
    if (!settings['attention.systemNotice'] || !isLocal || vscode.window.state.focused) return;
    void showSystemNotice('Earshot', text).catch(this.#deps.report);
  }
}

function requestKey({ conversation, type, id }: OpenRequest): string {
  return `${conversation} ${type} ${id}`;
}

/** `subagent` is the name of the subagent that asks; undefined if it is one of the user's conversations. */
function describeRequest({ type, text: asked }: OpenRequest, subagent: string | undefined): string {
  // A command line is clear without the tool's name.
  const text = asked.replace(/^run_command: /, '');
  if (subagent !== undefined) {
    return type === 'approval'
      ? vscode.l10n.t('The subagent {0} needs your approval: {1}', subagent, text)
      : vscode.l10n.t('The subagent {0} asks: {1}', subagent, text.slice(0, 200));
  }
  return type === 'approval'
    ? vscode.l10n.t('Earshot needs your approval: {0}', text)
    : vscode.l10n.t('Earshot asks: {0}', text.slice(0, 200));
}
