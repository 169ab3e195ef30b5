// Decides what the window's chat does: which conversation it shows, what stands in its way, what each message of the page means.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { describeFailure, type Failure } from '../../base/errors.ts';
import { countDeliverable } from '../../core/agent/delivery.ts';
import { attachmentName } from '../../core/conversation/attachments.ts';
import { worse } from '../../core/conversation/projections/transcript.ts';
import { type Earshot } from '../../core/earshot.ts';
import { type KeepAlive } from '../../core/keepAlive.ts';
import { type LiveConversation } from '../../core/live.ts';
import { type Clock, type Ids, type Logger, type Model } from '../../core/ports/ports.ts';
import { type Store } from '../../core/ports/storage.ts';
import { type Workspace } from '../../core/ports/workspace.ts';
import { type FileDiff } from '../../protocol/diffView.ts';
import { type Level } from '../../protocol/notification.ts';
import { type FromPageHandlers } from '../../protocol/webview.ts';
import { type ReviewController } from '../review/reviewController.ts';
import { type SettingsReader } from '../settings.ts';
import { type StatusBarState } from '../statusBar.ts';
import { toUri } from '../workspace/fileUris.ts';
import { type HandlesController } from './backgroundCommands.ts';
import { type CallChanges } from './callDiffs.ts';
import { type ChatFrontend } from './chatFrontend.ts';
import { type Composing } from './composing.ts';
import { readMeter } from './meter.ts';
import { obstaclesOf } from './obstacles.ts';
import { WakeOffer } from './wakeOffer.ts';

const REFRESH_AFTER = 30;
const TAKE_UP_ATTEMPTS = 10;
const TAKE_UP_EVERY = 300;

export interface ChatDeps {
  readonly clock: Clock;
  readonly earshot: Earshot;
  readonly lingering: KeepAlive;
  readonly frontend: ChatFrontend;
  readonly store: Store;
  readonly workspace: Workspace;
  readonly settings: SettingsReader;
  readonly ids: Ids;
  readonly composing: Composing;
  readonly logger: Logger & { show(): void };
  /** What a call did to files, for its card. */
  readDiffs(changes: CallChanges): Promise<readonly FileDiff[]>;
  model(): Model;
  onStatus(state: StatusBarState): void;
}

export class Chat implements Disposable {
  readonly #deps: ChatDeps;
  readonly #held = new DisposableStore();
  #shown: string | undefined;
  #refreshing: Disposable | undefined;
  readonly #wakeOffer = new WakeOffer({
    show: (message, action) => vscode.window.showInformationMessage(message, action),
    deliver: () => this.deliverNow(),
    report: (error) => this.#deps.logger.error('the offer to tell the model failed', error),
  });
  /** Why conversations cannot be kept, if so. */
  #storage: Failure | undefined;
  /** Shown conversations change one after another, so that two requests in a row make one conversation. */
  #changing: Promise<void> = Promise.resolve();

  constructor(deps: ChatDeps) {
    this.#deps = deps;
    const { earshot, frontend, settings } = deps;
    this.#held.add(
      earshot.onDidChange(({ conversation, folded, failure, reset }) => {
        if (reset === true && conversation === this.#shown) this.#redraw();
        if (folded !== undefined) frontend.appended(conversation, folded);
        if (failure !== undefined) this.#storage = failure;
        if (conversation !== this.#shown) return;
        if (folded === undefined) this.refresh();
        else this.#refreshSoon();
      }),
    );
    this.#held.add(settings.onDidChange(() => this.refresh()));
    frontend.returnTo(deps.composing);
    this.#held.add(earshot.producers.onDidChange(() => this.refresh()));
    this.#held.add(vscode.workspace.onDidGrantWorkspaceTrust(() => this.refresh()));
    this.#held.add(vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()));
    this.#held.add(frontend.onDidChangeApprovals(() => this.refresh()));
    this.refresh();
  }

  /** Takes up the newest conversation, with what is pending in it. */
  async restore(): Promise<void> {
    const listed = await this.#deps.store.list();
    if (!listed.ok) this.#storage = listed.failure;
    const newest = listed.ok ? listed.value[0]?.id : undefined;
    if (newest !== undefined) await this.#change(() => this.#show(newest));
    this.refresh();
    if (newest !== undefined) this.#takeUp(newest, TAKE_UP_ATTEMPTS);
    const others = listed.ok ? listed.value.slice(1).map(({ id }) => id) : [];
    const report = (error: unknown) => this.#deps.logger.error('background commands could not be taken up', error);
    void this.#deps.lingering.takeUp(others).catch(report);
  }

  /** Counting what is pending costs more the more there is, and events come in crowds. */
  #refreshSoon(): void {
    this.#refreshing ??= this.#held.add(
      this.#deps.clock.after(REFRESH_AFTER, () => {
        if (this.#refreshing !== undefined) this.#held.release(this.#refreshing);
        this.#refreshing = undefined;
        this.refresh();
      }),
    );
  }

  /** After a reload the window's former self may still be ending: what it has is free in a moment. */
  #takeUp(id: string, attempts: number): void {
    if (attempts === 0 || this.#shown !== id || this.#live()?.owned !== false) return;
    const take = async () => {
      await this.#deps.earshot.continueHere(id, true);
      this.refresh();
      this.#takeUp(id, attempts - 1);
    };
    const report = (error: unknown) => this.#deps.logger.error('the conversation could not be taken up', error);
    const waiting = this.#held.add(
      this.#deps.clock.after(TAKE_UP_EVERY, () => {
        this.#held.release(waiting);
        void take().catch(report);
      }),
    );
  }

  get shown(): string | undefined {
    return this.#shown;
  }

  /** Shows another conversation instead. */
  async open(id: string): Promise<void> {
    await this.#change(async () => {
      const before = this.#shown;
      if (before === id) return;
      if (before !== undefined) await this.#deps.lingering.leave(before);
      await this.#show(id);
    });
    this.refresh();
    this.#deps.frontend.focusComposer();
  }

  /** Leaves the shown conversation; the next request begins a new one. */
  async newChat(): Promise<void> {
    await this.#change(async () => {
      const before = this.#shown;
      this.#shown = undefined;
      this.#deps.frontend.show(undefined, []);
      // At once: closing takes a while, and whoever is elsewhere by then must not be torn away.
      this.#deps.frontend.focusComposer();
      if (before !== undefined) await this.#deps.lingering.leave(before);
    });
    this.refresh();
  }

  async stop(): Promise<void> {
    if (this.#shown !== undefined) await this.#deps.earshot.stop(this.#shown);
  }

  readonly handlers: Omit<
    FromPageHandlers,
    'ready' | keyof ReviewController['handlers'] | keyof HandlesController['handlers']
  > = {
    draft: ({ text }) => this.#deps.composing.typed(text),
    send: ({ text }) => this.#say(text, 'queue'),
    interrupt: ({ text }) => this.#say(text, 'interrupt'),
    take_back: ({ id }) => this.#takeBack(id),
    deliver_now: () => this.deliverNow(),
    attach_image: async (message) => {
      const attached = await this.#deps.composing.attach(message);
      if (!attached.ok) this.#notice('warning', describeFailure(attached.failure));
    },
    detach: ({ id }) => this.#deps.composing.detach(id),
    stop: () => this.stop(),
    new_chat: () => this.newChat(),
    answer_approval: ({ call, type: _type, ...given }) => {
      const { action, reason, always, arguments: args } = given;
      const answer = {
        action,
        by: 'user',
        ...(reason !== undefined && { reason }),
        ...(always !== undefined && { always }),
        ...(args !== undefined && { arguments: args }),
      };
      if (!this.#deps.frontend.answerApproval(call, answer)) this.#notice('warning', 'That was answered before.');
    },
    answer_question: ({ question, answer }) => {
      const taken = this.#deps.frontend.answerQuestion(question, { answer, by: 'user' });
      if (!taken) this.#notice('warning', 'That was answered before.');
    },
    open_file: ({ path, line }) => this.#openFile(path, line),
    read_diff: async ({ call }) => {
      const item = this.#live()?.log.state.transcript.items.find(({ id }) => id === call);
      const changes = (item?.type === 'tool' ? item.changes : undefined) ?? [];
      this.#deps.frontend.showDiff(call, await this.#deps.readDiffs(changes));
    },
    show_log: () => this.#deps.logger.show(),
    continue_here: () => this.#continueHere(),
    manage_trust: async () => vscode.commands.executeCommand('workbench.trust.manage'),
    open_folder: async () => vscode.commands.executeCommand('workbench.action.files.openFolder'),
    failed: ({ message }) => this.#deps.logger.error(`the page failed: ${message}`),
  };

  refresh(): void {
    const { frontend, workspace, earshot, settings } = this.#deps;
    const model = this.#deps.model();
    const live = this.#live();
    const pending = this.#pending(live, model);
    const running = live?.running ?? false;
    frontend.setHead({
      model: { label: model.label, detail: model.detail },
      running,
      // A failed write may succeed now; what could not even be opened cannot be written.
      canSend: live === undefined ? this.#storage === undefined : live.owned,
      pending: { count: pending.count, worst: pending.worst },
      heldBack: live?.heldBack ?? null,
      queued: (live?.log.state.pending.queuedMessages ?? []).map(({ id, content: text, attachments = [] }) => ({
        id,
        text,
        attachments: attachments.map(attachmentName),
      })),
      meter: live === undefined ? null : readMeter(live.log.state, model, settings.current),
      obstacles: obstaclesOf({ storage: this.#storage, workspace, live, earshot, settings }),
      todo: live?.log.state.todo.items ?? [],
    });
    const { openApprovals: approvals, openQuestions: questions } = frontend;
    this.#deps.onStatus({ approvals, questions, running, pending });
    this.#wakeOffer.update(live?.heldBack, model.label);
  }

  dispose(): void {
    this.#held.dispose();
  }

  #live(): LiveConversation | undefined {
    return this.#shown === undefined ? undefined : this.#deps.earshot.get(this.#shown);
  }

  #change(action: () => Promise<void>): Promise<void> {
    const next = this.#changing.then(action);
    this.#changing = next.catch((error: unknown) => this.#deps.logger.error('changing the conversation failed', error));
    return next;
  }

  async #show(id: string | undefined): Promise<void> {
    const { earshot, frontend } = this.#deps;
    // Recovery may ask for an approval while it opens: the chat must be listening to this conversation by then.
    const target = id ?? this.#deps.ids.ulid();
    this.#shown = target;
    this.#deps.lingering.rejoin(target);
    frontend.show(target, []);
    const opened = await earshot.open(target);
    if (!opened.ok) {
      this.#storage = opened.failure;
      this.#shown = undefined;
      return;
    }
    this.#storage = undefined;
    frontend.show(target, opened.value.log.state.transcript.items);
    await earshot.giveBack(target);
  }

  /** The page may be a moment behind: whether the words begin a turn or are queued is decided by what runs now. */
  async #say(text: string, how: 'queue' | 'interrupt'): Promise<void> {
    const { earshot, frontend, composing } = this.#deps;
    await this.#change(async () => {
      if (this.#shown === undefined) await this.#show(undefined);
    });
    const { attachments, giveBack } = composing.take();
    const sent = this.#shown === undefined ? undefined : await earshot[how](this.#shown, text, { attachments });
    if (sent?.ok === true) {
      this.#storage = undefined;
      this.refresh();
      return;
    }
    // Nothing that was typed is lost.
    frontend.restoreDraft(text);
    await giveBack();
    const failure = sent?.failure ?? this.#storage;
    if (failure?.code === 'storage') this.#storage = failure;
    else if (failure !== undefined) this.#notice('warning', describeFailure(failure));
    this.refresh();
  }

  async #takeBack(id: string): Promise<void> {
    if (this.#shown === undefined) return;
    const taken = await this.#deps.earshot.takeBack(this.#shown, id);
    if (taken.ok) await this.#deps.composing.putBack([taken.value]);
    else this.#notice('info', describeFailure(taken.failure));
    this.refresh();
  }

  /** Tells the model of the shown conversation what waits, whatever the limits say. */
  async deliverNow(): Promise<void> {
    const told = this.#shown === undefined ? undefined : await this.#deps.earshot.deliverNow(this.#shown);
    if (told === undefined) this.#notice('info', 'There is no conversation that could be told anything.');
    else if (!told.ok) this.#notice('info', describeFailure(told.failure));
    this.refresh();
  }

  async #continueHere(): Promise<void> {
    if (this.#shown === undefined) return;
    const taken = await this.#deps.earshot.continueHere(this.#shown);
    if (!taken.ok) this.#notice('warning', describeFailure(taken.failure));
    this.refresh();
  }

  #redraw(): void {
    const live = this.#live();
    if (live !== undefined) this.#deps.frontend.show(live.log.id, live.log.state.transcript.items);
  }

  #notice(level: 'info' | 'warning' | 'error', text: string): void {
    this.#deps.frontend.notice({ type: 'notice', id: this.#deps.ids.ulid(), level, text });
  }

  async #openFile(path: string, line = 0): Promise<void> {
    const file = await this.#deps.workspace.resolve(path);
    if (!file.ok) {
      this.#notice('warning', describeFailure(file.failure));
      return;
    }
    const selection = line > 0 && new vscode.Range(line - 1, 0, line - 1, 0);
    await vscode.window.showTextDocument(toUri(file.value), { preview: true, ...(selection && { selection }) });
  }

  #pending(live: LiveConversation | undefined, model: Model): StatusBarState['pending'] {
    if (live === undefined) return { count: 0, worst: null, newest: [] };
    const options = { settings: this.#deps.settings.current, contextWindow: model.contextWindow };
    const plan = countDeliverable(live.log, options);
    const worst = plan.entries.reduce<Level | null>((level, entry) => worse(level ?? 'info', entry.level), null);
    const newest = plan.entries.slice(0, 5).map((entry) => (entry.message.split('\n')[0] ?? '').replace(/:$/, ''));
    return { count: plan.shown.length + plan.counted.length, worst, newest };
  }
}
