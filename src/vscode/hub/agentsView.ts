// The Agents view: serves its page, reads the hub as the user while it is visible, and sends what the user writes.
import * as vscode from 'vscode';
import { Sequence } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { describeError } from '../../base/errors.ts';
import { type Event } from '../../base/emitter.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type UserAgent } from '../../hub/agents/userAgent.ts';
import {
  type AgentsState,
  type FromAgentsPage,
  fromAgentsPageSchema,
  type ToAgentsPage,
} from '../../protocol/page/agentsView.ts';
import { PageView } from '../pageView.ts';
import { type LiveAgents, readAgents } from './agentRows.ts';

/** The hub has no event for agents that connect or disconnect, so it is polled. */
const POLL_EVERY = 5000;
/** Events come in bursts, so they are collected for this long. */
const REFRESH_AFTER = 100;

export interface AgentsViewDeps {
  readonly extension: vscode.Uri;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly hub: {
    readonly isOn: boolean;
    readonly onDidChange: Event<void>;
    /** The user as an agent; undefined while this window is not on a hub. */
    user(): UserAgent | undefined;
  };
  readonly live: LiveAgents;
  /** Fires when the result of `live` may have changed. */
  readonly onDidChangeLive: Event<unknown>;
  openConversation(id: string): Promise<void>;
}

export class AgentsView implements vscode.WebviewViewProvider, Disposable {
  readonly #deps: AgentsViewDeps;
  readonly #page: PageView<FromAgentsPage>;
  #user: { readonly agent: UserAgent; readonly held: DisposableStore } | undefined;
  #thread: string | null = null;
  /** The next refresh after an event, and the next poll. */
  #soon: Disposable | undefined;
  #poll: Disposable | undefined;
  readonly #refreshes = new Sequence();

  constructor(deps: AgentsViewDeps) {
    this.#deps = deps;
    const { extension, logger, hub, onDidChangeLive } = deps;
    this.#page = new PageView({
      ...{ page: 'agents', extension, logger, schema: fromAgentsPageSchema },
      handle: (message) => this.#handle(message),
      opened: (view, held) => {
        held.add(hub.onDidChange(() => this.#refreshSoon()));
        held.add(onDidChangeLive(() => this.#refreshSoon()));
        held.add(view.onDidChangeVisibility(() => this.#refreshSoon()));
      },
    });
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#page.resolveWebviewView(view);
  }

  dispose(): void {
    this.#soon?.dispose();
    this.#poll?.dispose();
    this.#page.dispose();
    this.#user?.held.dispose();
  }

  async #handle(message: FromAgentsPage): Promise<void> {
    switch (message.type) {
      case 'ready':
        return this.#refresh();
      case 'open_thread':
        this.#thread = message.thread;
        return this.#refresh();
      case 'send':
        return this.#send(message);
      case 'open_conversation':
        return this.#deps.openConversation(message.id);
      case 'failed':
        this.#deps.logger.error(`the Agents view failed: ${message.message}`);
    }
  }

  async #send({ thread, title, text, mentions, files }: Extract<FromAgentsPage, { type: 'send' }>): Promise<void> {
    try {
      const agent = this.#follow();
      if (agent === undefined) throw new Error(vscode.l10n.t('This window is not on the hub.'));
      this.#thread = await agent.send({
        content: text,
        mentions,
        scopes: files.map((value) => ({ type: 'file', value })),
        ...(thread === null ? { title: title === '' ? shortFirstLine(text) : title } : { thread }),
      });
    } catch (error) {
      this.#post({ type: 'not_sent', text, problem: describeError(error) });
    }
    await this.#refresh();
  }

  /** `evenHidden` also refreshes a hidden view, for its badge. */
  #refreshSoon(evenHidden = false): void {
    this.#soon ??= this.#refreshAfter(REFRESH_AFTER, evenHidden);
  }

  #refreshAfter(milliseconds: number, evenHidden = false): Disposable | undefined {
    if (this.#page.view === undefined || !(this.#page.visible || evenHidden)) return undefined;
    return this.#deps.clock.after(milliseconds, () => {
      void this.#refresh().catch((error: unknown) => this.#deps.logger.error('agents could not be listed', error));
    });
  }

  /** Refreshes run one after the other, so that an older state never replaces a newer one. */
  #refresh(): Promise<void> {
    for (const timer of [this.#soon, this.#poll]) timer?.dispose();
    this.#soon = undefined;
    return this.#refreshes.run(async () => {
      const state = await this.#read();
      this.#post({ type: 'agents', state });
      this.#showUnread(state);
      this.#poll?.dispose();
      this.#poll = this.#refreshAfter(POLL_EVERY);
    });
  }

  #showUnread({ threads }: AgentsState): void {
    const unread = threads.reduce((sum, thread) => sum + thread.unread, 0);
    const tooltip = unread === 1 ? vscode.l10n.t('1 unread message') : vscode.l10n.t('{0} unread messages', unread);
    const { view } = this.#page;
    if (view !== undefined) view.badge = unread === 0 ? undefined : { value: unread, tooltip };
  }

  async #read(): Promise<AgentsState> {
    const agent = this.#follow();
    const none = { me: agent?.name ?? '', agents: [], threads: [], thread: null, machines: null };
    if (agent === undefined) return { hub: this.#deps.hub.isOn ? 'connecting' : 'off', ...none };
    try {
      // Reading a thread marks it as read by the user, so no thread is read while the view is hidden.
      return await readAgents(agent, this.#page.visible ? this.#thread : null, this.#deps.live);
    } catch (error) {
      this.#deps.logger.info(`the Agents view waits for the hub: ${describeError(error)}`);
      return { hub: 'connecting', ...none };
    }
  }

  /** The user's agent of the hub that this window is on now. */
  #follow(): UserAgent | undefined {
    const agent = this.#deps.hub.user();
    if (agent === this.#user?.agent) return agent;
    this.#user?.held.dispose();
    this.#user = undefined;
    if (agent === undefined) return undefined;
    const held = new DisposableStore();
    held.add(agent.onMessage(() => this.#refreshSoon(true)));
    held.add(agent.onState(() => this.#refreshSoon()));
    this.#user = { agent, held };
    return agent;
  }

  #post(message: ToAgentsPage): void {
    this.#page.post(message);
  }
}

function shortFirstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
