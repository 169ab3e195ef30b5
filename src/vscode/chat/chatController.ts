// The chat of the window: restores what was shown, says what VS Code knows of the head, and updates the status bar.
import * as vscode from 'vscode';
import { pause } from '../../base/async.ts';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { type Client } from '../../core/client/client.ts';
import { Prompts } from '../../core/conversation/prompts.ts';
import { findExcerpt } from '../../core/conversation/search.ts';
import { type Earshot } from '../../core/earshot.ts';
import { Activities } from '../../core/frontend/conversationActivity.ts';
import { PageHost, type PageHostDeps, type PageSummary } from '../../core/frontend/page/pageHost.ts';
import { type PageOffers } from '../../core/frontend/page/pageOffers.ts';
import { type KeepAlive } from '../../core/keepAlive.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type Store } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type Wakes } from '../../core/wakes/wakes.ts';
import { failureMessage } from '../failureMessage.ts';
import { type WindowHub } from '../hub/windowHub.ts';
import { type SettingsReader } from '../settings.ts';
import { type StatusBar } from '../statusBar.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';
import { confirmChoice } from './controls.ts';
import { confirmDelete } from './conversationCommands.ts';
import { obstaclesOf } from './obstacles.ts';
import { type ChatHandlers, type ShownChat } from './pageHandlers.ts';
import { WakeOffer } from './wakeOffer.ts';
import { type WindowMemory } from './windowMemory.ts';

const [TAKE_ATTEMPTS, TAKE_EVERY] = [10, 300];

export interface ChatDeps extends Omit<PageHostDeps, 'activities' | 'offers' | 'report'> {
  readonly client: Client;
  readonly earshot: Earshot;
  readonly keepAlive: KeepAlive;
  readonly store: Store;
  readonly workspace: Workspace;
  readonly settings: SettingsReader;
  readonly waiting: WaitingApprovals;
  readonly memory: WindowMemory;
  readonly logger: Logger & { show(): void };
  rulesIn(conversation: string | undefined): number;
  readonly wakes: Pick<Wakes, 'list'>;
  readonly statusBar: Pick<StatusBar, 'update'>;
  readonly hub: Pick<WindowHub, 'nameOf' | 'onDidChange' | 'link'>;
}

export class Chat implements ShownChat, Disposable {
  readonly #deps: ChatDeps;
  readonly #held = new DisposableStore();
  readonly #closing = new AbortController();
  readonly activities: Activities;
  readonly page: PageHost;
  readonly #prompts: Prompts;
  /** Set once the stored state of the window was read: from then on it may be overwritten. */
  #restored = false;
  readonly #wakeOffer = new WakeOffer({
    t: vscode.l10n.t,
    show: (offer) => this.#deps.waiting.announce(offer),
    deliver: () => this.page.deliver(),
    report: (error) => this.#deps.logger.error('the offer to deliver notifications failed', error),
  });

  constructor(deps: ChatDeps) {
    this.#deps = deps;
    const { earshot, client, logger } = deps;
    this.#prompts = new Prompts(deps.store);
    this.activities = new Activities({
      get: (id) => {
        const live = earshot.get(id);
        if (live === undefined) return undefined;
        const { title, subagent } = live.log.state.summary;
        return { title, subagent, running: live.running, model: earshot.choices.of(id).settings.model };
      },
      requests: client.requests,
      isShown: (id) => id === this.shown,
    });
    const report = (what: string, error: unknown) => logger.error(what, error);
    this.page = this.#held.add(new PageHost({ ...deps, activities: this.activities, offers: this.#offers(), report }));
    this.#held.add(
      earshot.onDidChange(({ conversation, folded, failure }) => {
        this.activities.changed(conversation, folded?.event);
        if (failure !== undefined) this.page.setProblem(failure);
        else if (folded === undefined) this.page.refresh();
      }),
    );
    this.#held.add(client.requests.onDidChange(({ open }) => this.activities.changed(open.conversation)));
    this.#held.add(this.page.onDidRefresh((summary) => this.#refreshed(summary)));
    const parts = [deps.settings, deps.waiting, earshot.producers, deps.hub].map(({ onDidChange }) => onDidChange);
    const { onDidGrantWorkspaceTrust, onDidChangeWorkspaceFolders } = vscode.workspace;
    for (const changed of [...parts, onDidGrantWorkspaceTrust, onDidChangeWorkspaceFolders])
      this.#held.add(changed(() => this.page.refresh()));
    this.page.refresh();
  }

  get shown(): string | undefined {
    return this.page.shown;
  }

  get onDidRefresh(): PageHost['onDidRefresh'] {
    return this.page.onDidRefresh;
  }

  /** Shows the conversation that was shown last, and resumes those that were running. */
  async restore(): Promise<void> {
    const { store, memory, keepAlive, logger } = this.#deps;
    const [listed, { shown, running }] = await Promise.all([store.list(), memory.read()]);
    this.#restored = true;
    if (!listed.ok) this.page.setProblem(listed.failure);
    const ids = listed.ok ? listed.value.map(({ id }) => id) : [];
    const wanted = shown === null ? undefined : (ids.find((id) => id === shown) ?? ids[0]);
    await this.page.show(wanted);
    const report = (what: string) => (error: unknown) => logger.error(what, error);
    if (wanted !== undefined)
      void this.#takeWhenFree(wanted).catch(report('could not take ownership of the conversation'));
    const others = ids.filter((id) => id !== wanted);
    const resumed = keepAlive.resume(others.filter((id) => running.includes(id)));
    void resumed.then(() => keepAlive.reattach(others)).catch(report('could not reattach to background commands'));
  }

  readonly handlers: ChatHandlers = {
    list_prompts: async () => {
      const texts = await this.#prompts.ofOthers(this.shown);
      this.#deps.frontend.reply({ type: 'prompts', texts });
    },
    show_log: () => this.#deps.logger.show(),
    continue_here: async () => {
      if (this.shown === undefined) return;
      const taken = await this.#deps.earshot.continueHere(this.shown);
      if (!taken.ok) this.page.notice('warning', failureMessage(taken.failure));
      this.page.refresh();
    },
    review_approvals: () => this.#deps.waiting.reviewAll(),
    take_offer: ({ subject }) => this.#deps.waiting.take(subject),
    manage_trust: async () => vscode.commands.executeCommand('workbench.trust.manage'),
    open_folder: async () => vscode.commands.executeCommand('workbench.action.files.openFolder'),
    failed: ({ message }) => this.#deps.logger.error(`the chat page failed: ${message}`),
  };

  dispose(): void {
    this.#closing.abort();
    this.#held.dispose();
  }

  /** After a reload the previous extension host may still be closing; it releases the conversation soon. */
  async #takeWhenFree(id: string): Promise<void> {
    const { earshot, clock } = this.#deps;
    const isFollowed = () => this.shown === id && earshot.get(id)?.owned === false;
    for (let attempt = 0; attempt < TAKE_ATTEMPTS && isFollowed(); attempt++) {
      if (!(await pause(clock, TAKE_EVERY, this.#closing.signal)) || !isFollowed()) return;
      await earshot.continueHere(id, true);
      this.page.refresh();
    }
  }

  #offers(): PageOffers {
    const { earshot, store, settings, workspace, waiting, hub, wakes } = this.#deps;
    return {
      chosen: (conversation) => earshot.choices.of(conversation),
      headOf: (shown, storage) => {
        const live = shown && earshot.get(shown.id);
        return {
          // A failed write may succeed next time; a conversation that could not be opened cannot be written.
          canSend: live === undefined ? storage === undefined : live.owned,
          obstacles: obstaclesOf({ storage, workspace, live, earshot, settings, waiting, hub }),
          rules: this.#deps.rulesIn(shown?.id),
          ...(live?.owned === true && { due: wakes.list(live.log.id) }),
          titleOf: (id) => earshot.get(id)?.log.state.summary.title ?? '',
        };
      },
      t: vscode.l10n.t,
      describe: failureMessage,
      confirm: async (message) => {
        if (message.type === 'choose') return confirmChoice(message, settings.limits, this.page);
        return confirmDelete(store, message.conversation ?? this.shown ?? '');
      },
      excerptOf: async (conversation, query) => {
        const read = await store.read(conversation);
        return read.ok ? findExcerpt(read.value.events, query) : undefined;
      },
      didShow: (conversation) => earshot.returnMessages(conversation),
    };
  }

  #refreshed({ shown, pending }: PageSummary): void {
    const { earshot, hub, memory, statusBar } = this.#deps;
    const activity = shown && this.activities.activityOf(shown.id);
    const agent = shown && hub.nameOf(shown.id);
    statusBar.update({ activity, others: this.activities.othersThan(shown?.id), pending, agent, link: hub.link });
    if (this.#restored) memory.write({ shown: shown?.id ?? null, running: this.activities.runningBeside(shown?.id) });
    this.#wakeOffer.update(shown?.heldBack, earshot.choices.of(shown?.id).model.label);
  }
}
