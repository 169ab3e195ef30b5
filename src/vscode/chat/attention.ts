// Draws the user's attention to open requests and ended turns: badge, toast, sound, system notice.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { knownToolLabel, otherToolName } from '../../base/toolLabels.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { type OpenRequest, type RequestsClient } from '../../core/client/requests.ts';
import { realClock } from '../../node/realClock.ts';
import { showSystemNotice } from '../../node/systemNotice.ts';
import { type ApprovalRequest } from '../../core/ports/ports.ts';
import { type Settings } from '../../protocol/settings.ts';
import { showPassing } from '../passingMessage.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';

/** Requests within this time are announced together. */
const COLLECT_MILLISECONDS = 250;
const MOST_NAMED = 3;
/** How long the end of a turn is announced. */
const ENDED_MILLISECONDS = 15_000;

export interface AttentionDeps {
  readonly earshot: Earshot;
  readonly frontend: ChatFrontend;
  readonly requests: RequestsClient;
  readonly view: {
    readonly visible: boolean;
    setBadge(value: number, tooltip: string): void;
    onDidShow: vscode.Event<void>;
  };
  readonly waiting: Pick<WaitingApprovals, 'all' | 'onDidChange'>;
  settings(): Settings;
  /** Shows the view with this conversation. */
  show(conversation: string): Promise<void>;
  report(error: unknown): void;
}

export class Attention implements Disposable {
  readonly #deps: AttentionDeps;
  readonly #held = new DisposableStore();
  /** Requests that the user was notified of, or will be with the next announcement. */
  #notified = new Set<string>();
  #collecting: { readonly fresh: OpenRequest[]; readonly timer: Disposable } | undefined;
  /** Conversations whose turns ended unseen. */
  readonly #ended = new Set<string>();
  /** Messages on the screen, with the requests that they announce. */
  readonly #messages = new Map<AbortController, ReadonlySet<string>>();

  constructor(deps: AttentionDeps) {
    this.#deps = deps;
    this.#held.add(deps.requests.onDidChange(() => this.#requestsChanged()));
    this.#held.add(deps.waiting.onDidChange(() => this.#updateBadge()));
    this.#held.add(
      deps.earshot.onDidChange(({ conversation, folded }) => {
        if (folded?.event.type === 'turn_ended') this.#turnEnded(conversation, folded.event.outcome);
      }),
    );
    this.#held.add(
      deps.view.onDidShow(() => {
        // The chat shows all of it.
        for (const message of this.#messages.keys()) message.abort();
        this.#ended.clear();
        this.#updateBadge();
      }),
    );
  }

  dispose(): void {
    this.#collecting?.timer.dispose();
    for (const message of this.#messages.keys()) message.abort();
    this.#held.dispose();
  }

  #requestsChanged(): void {
    const open = this.#deps.requests.all;
    const fresh = open.filter((request) => !this.#notified.has(requestKey(request)));
    // A conversation that already waits for the user is not announced again.
    const waiting = new Set(open.filter((one) => this.#notified.has(requestKey(one))).map((one) => one.conversation));
    this.#notified = new Set(open.map(requestKey));
    for (const [message, keys] of this.#messages)
      if (keys.size > 0 && ![...keys].some((key) => this.#notified.has(key))) message.abort();
    this.#updateBadge();
    if (this.#collecting !== undefined) {
      this.#collecting.fresh.push(...fresh);
      return;
    }
    const first = fresh.filter(({ conversation }) => !waiting.has(conversation));
    if (first.length === 0) return;
    this.#collecting = { fresh: first, timer: realClock.after(COLLECT_MILLISECONDS, () => this.#announce()) };
  }

  /** One message for all requests that were opened together and are still open. */
  #announce(): void {
    const fresh = new Set(this.#collecting?.fresh.map(requestKey));
    this.#collecting = undefined;
    const open = this.#deps.requests.all.filter((request) => fresh.has(requestKey(request)));
    if (open.length === 0) return;
    const text = this.#describe(open);
    this.#signal(text);
    const [first] = open;
    if (first !== undefined) this.#toast(text, first.conversation, new Set(open.map(requestKey)));
  }

  #describe(requests: readonly OpenRequest[]): string {
    const [first] = requests;
    if (first !== undefined && requests.length === 1) {
      const { subagent } = this.#deps.earshot.get(first.conversation)?.log.state.summary ?? {};
      return describeRequest(first, subagent?.name);
    }
    const named = requests.slice(0, MOST_NAMED).map(describeCall).join(', ');
    const more = requests.length - MOST_NAMED;
    const list = more > 0 ? vscode.l10n.t('{0} and {1} more', named, more) : named;
    return requests.every(({ type }) => type === 'approval')
      ? vscode.l10n.t('Earshot needs {0} approvals: {1}', requests.length, list)
      : vscode.l10n.t('Earshot needs {0} answers: {1}', requests.length, list);
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
    const message = this.#toast(text, conversation, new Set());
    if (message !== undefined) this.#held.add(realClock.after(ENDED_MILLISECONDS, () => message.abort()));
  }

  #updateBadge(): void {
    const waiting = this.#deps.requests.all.length + this.#deps.waiting.all.length;
    const count = waiting + (this.#deps.view.visible ? 0 : this.#ended.size);
    const tooltip =
      waiting > 0 ? vscode.l10n.t('{0} waiting for you', waiting) : vscode.l10n.t('{0} answered', this.#ended.size);
    this.#deps.view.setBadge(count, tooltip);
  }

  /** Not while the chat is visible: it shows what waits in any conversation, and a toast would cover its composer. */
  #toast(text: string, conversation: string, requests: ReadonlySet<string>): AbortController | undefined {
    if (!this.#deps.settings()['attention.toast'] || this.#deps.view.visible) return undefined;
    const message = new AbortController();
    this.#messages.set(message, requests);
    const show = async () => {
      const isChosen = await showPassing({ text, action: vscode.l10n.t('Show'), gone: message.signal });
      this.#messages.delete(message);
      if (isChosen) await this.#deps.show(conversation);
    };
    void show().catch(this.#deps.report);
    return message;
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
function describeRequest(request: OpenRequest, subagent: string | undefined): string {
  const { type } = request;
  const text = describeCall(request);
  if (subagent !== undefined) {
    return type === 'approval'
      ? vscode.l10n.t('The subagent {0} needs your approval: {1}', subagent, text)
      : vscode.l10n.t('The subagent {0} asks: {1}', subagent, text.slice(0, 200));
  }
  return type === 'approval'
    ? vscode.l10n.t('Earshot needs your approval: {0}', text)
    : vscode.l10n.t('Earshot asks: {0}', text.slice(0, 200));
}

/** In words, for people who do not know the tools' names. A question, and a command line, is clear as it is. */
function describeCall({ type, request }: OpenRequest): string {
  if (type === 'question') return request.text.slice(0, 200);
  const { name: tool } = request.call;
  const text = subjectOf(request.call);
  switch (tool) {
    case 'run_command':
      return text;
    case 'edit_file':
    case 'quick_fix':
      return vscode.l10n.t('change {0}', text);
    case 'apply_patch':
      return vscode.l10n.t('change files');
    case 'write_file':
      return vscode.l10n.t('write {0}', text);
    case 'move_file':
      return vscode.l10n.t('move {0}', text);
    case 'delete_file':
      return vscode.l10n.t('delete {0}', text);
    case 'read_file':
      return vscode.l10n.t('read {0}', text);
    case 'fetch_url':
      return vscode.l10n.t('fetch {0}', text);
    case 'run_task':
      return vscode.l10n.t('run the task {0}', text);
    case 'run_tests':
      return vscode.l10n.t('run tests');
    case 'send_message':
      return vscode.l10n.t('send a message to other agents');
    default:
      return vscode.l10n.t('use the tool {0}', describeTool(tool));
  }
}

/** What the call is about: a command, a path, an address; empty if nothing is known. */
function subjectOf({ arguments: given }: ApprovalRequest['call']): string {
  const subject = [given['command'], given['path'], given['url'], given['name']].find((one) => typeof one === 'string');
  return subject?.split('\n', 1)[0]?.slice(0, 200) ?? '';
}

function describeTool(name: string): string {
  const known = knownToolLabel(name);
  return known === undefined ? otherToolName(name) : vscode.l10n.t(known);
}
