// The chat of the window: shows one conversation, handles the messages of the page, and updates head and status bar.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { type Failure } from '../../base/errors.ts';
import { type LiveConversation } from '../../core/conversation/liveConversation.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type ChatFrontend } from '../../core/frontend/chatFrontend.ts';
import { conversationHead, summarizePending } from '../../core/frontend/chatHead.ts';
import { type RequestAnswer, type Requests } from '../../core/client/requests.ts';
import { Activities } from '../../core/frontend/conversationActivity.ts';
import { type KeepAlive } from '../../core/keepAlive.ts';
import { type Clock, type Ids, type Logger } from '../../core/ports/ports.ts';
import { type Store } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type FileDiff } from '../../protocol/page/diffView.ts';
import { type WindowHub } from '../hub/windowHub.ts';
import { type SettingsReader } from '../settings.ts';
import { type StatusBar } from '../statusBar.ts';
import { type WaitingApprovals } from '../waitingApprovals.ts';
import { type CallChanges } from './callDiffs.ts';
import { type Composing } from './composing.ts';
import { obstaclesOf } from './obstacles.ts';
import { openFile } from './openFile.ts';
import { type ChatHandlers, type ShownChat } from './pageHandlers.ts';
import { WakeOffer } from './wakeOffer.ts';
import { type WindowMemory } from './windowMemory.ts';
import { failureMessage } from '../failureMessage.ts';

const REFRESH_AFTER = 30;
const [TAKE_ATTEMPTS, TAKE_EVERY] = [10, 300];

export interface ChatDeps {
  readonly clock: Clock;
  readonly earshot: Earshot;
  readonly keepAlive: KeepAlive;
  readonly frontend: ChatFrontend;
  readonly requests: Requests;
  readonly store: Store;
  readonly workspace: Workspace;
  readonly settings: SettingsReader;
  readonly waiting: WaitingApprovals;
  readonly ids: Ids;
  readonly composing: Composing;
  readonly memory: WindowMemory;
  readonly logger: Logger & { show(): void };
  /** Diffs of the files that a call changed, for its card. */
  readDiffs(changes: CallChanges): Promise<readonly FileDiff[]>;
  rulesIn(conversation: string | undefined): number;
  readonly statusBar: Pick<StatusBar, 'update'>;
  readonly hub: Pick<WindowHub, 'nameOf' | 'onDidChange' | 'link'>;
}

export class Chat implements ShownChat, Disposable {
  readonly #deps: ChatDeps;
  readonly #held = new DisposableStore();
  readonly #onDidRefresh: Emitter<void>;
  readonly activities: Activities;
  #shown: string | undefined;
  #refreshing: Disposable | undefined;
  /** Set once the stored state of the window was read: from then on it may be overwritten. */
  #restored = false;
  readonly #wakeOffer = new WakeOffer({
    t: vscode.l10n.t,
    show: (offer) => this.#deps.waiting.announce(offer),
    deliver: () => this.deliverNow(),
    report: (error) => this.#deps.logger.error('the offer to deliver notifications failed', error),
  });
  /** Why conversations cannot be stored. */
  #storage: Failure | undefined;
  /** Serializes changes of the shown conversation, so that two quick messages start only one conversation. */
  #changing: Promise<void> = Promise.resolve();

  constructor(deps: ChatDeps) {
    this.#deps = deps;
    const { earshot, frontend, settings, logger } = deps;
    this.#onDidRefresh = this.#held.add(new Emitter((error) => logger.error('a listener failed', error)));
    this.activities = new Activities({
      get: (id) => earshot.get(id),
      requests: deps.requests,
      shown: () => this.#shown,
    });
    this.#held.add(
      earshot.onDidChange((change) => {
        const { conversation, folded, failure, reset } = change;
        this.activities.changed(change);
        if (reset === true && conversation === this.#shown) this.#redraw();
        if (folded !== undefined) frontend.appended(conversation, folded);
        if (failure !== undefined) this.#storage = failure;
        if (folded === undefined) this.refresh();
        else if (conversation === this.#shown || folded.event.type === 'turn_ended') this.#refreshSoon();
      }),
    );
    frontend.setComposer(deps.composing);
    const parts = [settings, deps.waiting, earshot.producers, deps.hub].map(({ onDidChange }) => onDidChange);
    const { onDidGrantWorkspaceTrust, onDidChangeWorkspaceFolders } = vscode.workspace;
    const others = [onDidGrantWorkspaceTrust, onDidChangeWorkspaceFolders, deps.requests.onDidChange];
    for (const changed of [...parts, ...others]) this.#held.add(changed(() => this.refresh()));
    this.refresh();
  }

  /** Shows the conversation that was shown last, and resumes those that were running. */
  async restore(): Promise<void> {
    const [listed, { shown, running }] = await Promise.all([this.#deps.store.list(), this.#deps.memory.read()]);
    this.#restored = true;
    if (!listed.ok) this.#storage = listed.failure;
    const ids = listed.ok ? listed.value.map(({ id }) => id) : [];
    const wanted = shown === null ? undefined : (ids.find((id) => id === shown) ?? ids[0]);
    await this.#change(() => this.#show(wanted));
    this.refresh();
    if (wanted !== undefined) this.#takeWhenFree(wanted, TAKE_ATTEMPTS);
    const others = ids.filter((id) => id !== wanted);
    const report = (error: unknown) => this.#deps.logger.error('could not reattach to background commands', error);
    const { keepAlive } = this.#deps;
    const resumed = keepAlive.resume(others.filter((id) => running.includes(id)));
    void resumed.then(() => keepAlive.reattach(others)).catch(report);
  }

  /** Debounced: counting pending notifications is expensive, and events come in bursts. */
  #refreshSoon(): void {
    this.#refreshing ??= this.#held.add(
      this.#deps.clock.after(REFRESH_AFTER, () => {
        if (this.#refreshing !== undefined) this.#held.release(this.#refreshing);
        this.#refreshing = undefined;
        this.refresh();
      }),
    );
  }

  /** After a reload the previous extension host may still be closing; it releases the conversation soon. */
  #takeWhenFree(id: string, attempts: number): void {
    if (attempts === 0 || this.#shown !== id || this.#live()?.owned !== false) return;
    const take = async () => {
      await this.#deps.earshot.continueHere(id, true);
      this.refresh();
      this.#takeWhenFree(id, attempts - 1);
    };
    const report = (error: unknown) => this.#deps.logger.error('could not take ownership of the conversation', error);
    const waiting = this.#held.add(
      this.#deps.clock.after(TAKE_EVERY, () => {
        this.#held.release(waiting);
        void take().catch(report);
      }),
    );
  }

  get shown(): string | undefined {
    return this.#shown;
  }

  /** Shows another conversation. */
  async open(id: string): Promise<void> {
    await this.#change(async () => {
      const before = this.#shown;
      if (before === id) return;
      await this.#show(id);
      if (before !== undefined) await this.#deps.keepAlive.leave(before);
    });
    this.refresh();
    this.#deps.frontend.focusComposer();
  }

  /** Leaves the shown conversation; the next message starts a new one. */
  async newChat(): Promise<void> {
    await this.#change(async () => {
      const before = this.#shown;
      await this.#show(undefined);
      // Before the other conversation is closed: that takes a while, and the user may move the focus meanwhile.
      this.#deps.frontend.focusComposer();
      if (before !== undefined) await this.#deps.keepAlive.leave(before);
    });
    this.refresh();
  }

  /** Call after the conversation was deleted. */
  forget(id: string): void {
    this.activities.forget(id);
    this.refresh();
  }

  async stop(): Promise<void> {
    if (this.#shown !== undefined) await this.#deps.earshot.stop(this.#shown);
  }

  readonly handlers: ChatHandlers = {
    draft: ({ text, conversation }) => this.#deps.composing.draftChanged(text, conversation ?? undefined),
    send: ({ text }) => this.#send(text, 'queue'),
    interrupt: ({ text }) => this.#send(text, 'interrupt'),
    take_back: ({ id }) => this.#withdrawMessage(id),
    deliver_now: () => this.deliverNow(),
    attach_image: async (message) => {
      const attached = await this.#deps.composing.attach(message);
      if (!attached.ok) this.notice('warning', failureMessage(attached.failure));
    },
    detach: ({ id }) => this.#deps.composing.detach(id),
    stop: () => this.stop(),
    new_chat: () => this.newChat(),
    answer_approval: ({ call, revision, conversation = this.#shown ?? '', type: _, ...answer }) =>
      this.#answer({ type: 'approval', conversation, id: call, revision, answer: { ...answer, by: 'user' } }),
    answer_question: ({ question, answer }) =>
      this.#answer({ type: 'question', id: question, answer: { answer, by: 'user' } }),
    open_file: async (place) => {
      const opened = await openFile(this.#deps.workspace, place);
      if (!opened.ok) this.notice('warning', failureMessage(opened.failure));
    },
    read_diff: async ({ call }) => {
      const item = this.#live()?.log.state.transcript.items.find(({ id }) => id === call);
      const changes = (item?.type === 'tool' ? item.changes : undefined) ?? [];
      this.#deps.frontend.reply({ type: 'diff', call, files: await this.#deps.readDiffs(changes) });
    },
    show_log: () => this.#deps.logger.show(),
    continue_here: () => this.#continueHere(),
    review_approvals: () => this.#deps.waiting.reviewAll(),
    manage_trust: async () => vscode.commands.executeCommand('workbench.trust.manage'),
    open_folder: async () => vscode.commands.executeCommand('workbench.action.files.openFolder'),
    failed: ({ message }) => this.#deps.logger.error(`the chat page failed: ${message}`),
  };

  /** Fires after each update of the head; the shown conversation may have changed. */
  get onDidRefresh(): Emitter<void>['event'] {
    return this.#onDidRefresh.event;
  }

  refresh(): void {
    const { frontend, workspace, earshot, settings, waiting, hub } = this.#deps;
    const [{ model, settings: held, choice }, live] = [earshot.choices.of(this.#shown), this.#live()];
    const [pending, { others }] = [summarizePending(live, model, held), this.activities];
    frontend.setHead(
      conversationHead({
        live,
        model,
        choice,
        settings: held,
        pending,
        // A failed write may succeed next time; a conversation that could not be opened cannot be written.
        canSend: live === undefined ? this.#storage === undefined : live.owned,
        obstacles: obstaclesOf({ storage: this.#storage, workspace, live, earshot, settings, waiting, hub }),
        others,
        rules: this.#deps.rulesIn(this.#shown),
        titleOf: (id) => earshot.get(id)?.log.state.summary.title ?? '',
      }),
    );
    const activity = this.#shown === undefined ? undefined : this.activities.activityOf(this.#shown);
    const agent = live === undefined ? undefined : hub.nameOf(live.log.id);
    this.#deps.statusBar.update({ activity, others, pending, agent, link: hub.link });
    if (this.#restored) this.#deps.memory.write({ shown: this.#shown ?? null, running: this.activities.running });
    this.#wakeOffer.update(live?.heldBack, model.label);
    this.#onDidRefresh.fire();
  }

  dispose(): void {
    this.#held.dispose();
  }

  #answer(given: RequestAnswer): void {
    const answered = this.#deps.requests.answer(given);
    if (answered.ok) return;
    const changed = vscode.l10n.t('What this call would do has changed since it was shown. Review it again.');
    const isChanged = answered.failure.code === 'not_as_approved';
    this.notice('warning', isChanged ? changed : vscode.l10n.t('This request was already answered.'));
  }

  #live(): LiveConversation | undefined {
    return this.#shown === undefined ? undefined : this.#deps.earshot.get(this.#shown);
  }

  #change(action: () => Promise<void>): Promise<void> {
    const next = this.#changing.then(action);
    this.#changing = next.catch((error: unknown) => this.#deps.logger.error('changing the conversation failed', error));
    return next;
  }

  /** Undefined: a new chat, or with `start` a new conversation that takes over the draft of the new chat. */
  async #show(id: string | undefined, start = false): Promise<void> {
    const { earshot, frontend, composing } = this.#deps;
    if (id === undefined && !start) {
      const draft = await composing.show(undefined);
      this.#shown = undefined;
      frontend.show(undefined, [], draft);
      return;
    }
    // Opening may recover a request for approval, so the chat must already show this conversation.
    const target = id ?? this.#deps.ids.ulid();
    const draft = id === undefined ? undefined : await composing.show(target);
    this.#shown = target;
    this.activities.seen(target);
    this.#deps.keepAlive.rejoin(target);
    frontend.show(target, [], draft);
    if (id === undefined) await composing.moveTo(target);
    const opened = await earshot.open(target);
    if (!opened.ok) {
      this.#storage = opened.failure;
      this.#shown = undefined;
      if (id === undefined) {
        frontend.show(undefined, []);
        await composing.moveTo(undefined);
      }
      return;
    }
    this.#storage = undefined;
    frontend.show(target, opened.value.log.state.transcript.items);
    await earshot.returnMessages(target);
  }

  /** Decides by the current state whether to start a turn or queue the message; the page may be out of date. */
  async #send(text: string, how: 'queue' | 'interrupt'): Promise<void> {
    const { earshot, frontend, composing } = this.#deps;
    await this.#change(async () => {
      if (this.#shown === undefined) await this.#show(undefined, true);
    });
    const { attachments, text: attached, returnAttachments } = composing.take();
    const content = [text, attached].filter((part) => part !== '').join('\n\n');
    const sent = this.#shown === undefined ? undefined : await earshot[how](this.#shown, content, { attachments });
    if (sent?.ok === true) {
      this.#storage = undefined;
      this.refresh();
      return;
    }
    // The typed text must not be lost.
    frontend.restoreDraft(text);
    await returnAttachments();
    const failure = sent?.failure ?? this.#storage;
    if (failure?.code === 'storage') this.#storage = failure;
    else if (failure !== undefined) this.notice('warning', failureMessage(failure));
    this.refresh();
  }

  async #withdrawMessage(id: string): Promise<void> {
    if (this.#shown === undefined) return;
    const taken = await this.#deps.earshot.withdrawMessage(this.#shown, id);
    if (taken.ok) await this.#deps.composing.restoreMessages([taken.value]);
    else this.notice('info', failureMessage(taken.failure));
    this.refresh();
  }

  /** Delivers pending notifications to the shown conversation, regardless of the limits. */
  async deliverNow(): Promise<void> {
    const delivered = this.#shown === undefined ? undefined : await this.#deps.earshot.deliverNow(this.#shown);
    if (delivered === undefined) this.notice('info', vscode.l10n.t('No conversation is open.'));
    else if (!delivered.ok) this.notice('info', failureMessage(delivered.failure));
    this.refresh();
  }

  async #continueHere(): Promise<void> {
    if (this.#shown === undefined) return;
    const taken = await this.#deps.earshot.continueHere(this.#shown);
    if (!taken.ok) this.notice('warning', failureMessage(taken.failure));
    this.refresh();
  }

  #redraw(): void {
    const live = this.#live();
    if (live !== undefined) this.#deps.frontend.show(live.log.id, live.log.state.transcript.items);
  }

  notice(level: 'info' | 'warning' | 'error', text: string): void {
    this.#deps.frontend.notice({ type: 'notice', id: this.#deps.ids.ulid(), level, text });
  }
}
