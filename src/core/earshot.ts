// Manages the live conversations of a window and connects them with the dispatcher, the producers and the loop.
import { defined } from '../base/json/defined.ts';
import { type Disposable, DisposableStore, toDisposable } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { describeError, type Failure, failed, type Result, succeeded } from '../base/errors.ts';
import { type ShippedKind } from '../protocol/kinds.ts';
import { type NotificationDraft } from '../protocol/notification.ts';
import { HandOver } from './agent/handOver.ts';
import { type AcceptedText, acceptText, type MessageOptions, type RequestOptions } from './agent/userText.ts';
import { Captures } from './checkpoints/captures.ts';
import { Choices } from './choices.ts';
import { viewAsAgent } from './conversation/agentConversation.ts';
import { type ConversationChange, type LiveConversation, storageFailure } from './conversation/liveConversation.ts';
import { subscribeEvents } from './conversation/events/subscribeEvents.ts';
import { ConversationLog } from './conversation/log.ts';
import { type Opening, openOrFollow } from './conversation/opening.ts';
import { type Folded } from './conversation/projections/project.ts';
import { endBesideTurns, isBetweenCycles, type Live, notOpen, viewLive } from './live.ts';
import { Dispatcher } from './notify/dispatcher.ts';
import { type Subscription } from './notify/outlet.ts';
import { Producers } from './notify/producers.ts';
import { dismiss } from './notify/queue.ts';
import { Ownership, unsubscribe } from './ownership.ts';
import { type Publisher, type QueuedMessage } from './ports/ports.ts';
import { ConversationHooks } from './tools/hookMoments.ts';
import { LiveViews } from './tools/liveViews.ts';
import { OwnEdits } from './tools/ownEdits.ts';
import { ToolRegistry } from './tools/registry.ts';
import { type Services } from './tools/services.ts';
import { type MessageOutcome, Turns } from './turns.ts';

export class Earshot implements Disposable, Publisher {
  readonly #ports: Services;
  readonly #dispatcher: Dispatcher;
  readonly #turns: Turns;
  readonly #ownership: Ownership;
  readonly #closing = new Set<Promise<void>>();
  readonly #live = new Map<string, Live>();
  readonly #listeners = new Map<string, ConversationLog>();
  readonly #held = new DisposableStore();
  readonly #onDidChange: Emitter<ConversationChange>;
  readonly #onDidChangeLive: Emitter<string>;
  readonly #views: LiveViews;
  readonly #hooks: ConversationHooks;
  readonly producers: Producers;
  readonly choices: Choices;
  readonly tools: ToolRegistry;

  constructor(ports: Services) {
    this.#ports = ports;
    this.#dispatcher = new Dispatcher({
      ids: ports.ids,
      repair: (id) => this.#repair(id),
      onlyOwn: (kind) =>
        kind === ('task.ended' satisfies ShippedKind) && ports.settings()['notifications.tasks'] === 'own',
      eachTime: (kind) => ports.settings()['notifications.levels'][kind] !== undefined,
    });
    const report = (error: unknown) => ports.logger.error('a listener failed', error);
    this.#onDidChange = this.#held.add(new Emitter(report));
    this.#onDidChangeLive = this.#held.add(new Emitter(report));
    const changed = (change: ConversationChange) => this.#onDidChange.fire(change);
    this.tools = this.#held.add(new ToolRegistry(ports.tools, report));
    this.#hooks = this.#held.add(new ConversationHooks(ports));
    this.#views = this.#held.add(
      new LiveViews(
        this.tools,
        (log, wanted, wake) => {
          const due = this.#listeners.has(log.id) ? undefined : ports.store.due;
          return subscribeEvents({ ...ports, log, due }, wanted, wake ? 'setting' : undefined);
        },
        report,
      ),
    );
    const { seen, live } = this.#views;
    this.producers = this.#held.add(new Producers({ ...ports, outlet: this.#dispatcher, seen, live }));
    this.#turns = new Turns({ ports, registry: this.tools, changed, producers: this.producers });
    this.choices = new Choices({ ports, registry: this.tools, turns: this.#turns, get: (id) => this.#live.get(id) });
    this.#ownership = new Ownership({
      ports,
      join: (live) => this.#subscribeOwned(live),
      turns: this.#turns,
      changed,
      isOpen: (live) => this.#live.get(live.log.id) === live,
      close: (id) => this.close(id),
    });
    const { subagents } = ports;
    this.#held.add(this.onDidChange((change) => subagents.changed(change)));
    this.#held.add(this.onDidChangeLive((id) => subagents.liveChanged(id)));
    const listening = ports.onDidChangeSettings?.(() => {
      this.producers.refresh();
      this.reconsider();
    });
    if (listening !== undefined) this.#held.add(listening);
  }

  get onDidChange(): Emitter<ConversationChange>['event'] {
    return this.#onDidChange.event;
  }

  /** Fires with the id of a conversation that has become live or is no longer live. */
  get onDidChangeLive(): Emitter<string>['event'] {
    return this.#onDidChangeLive.event;
  }

  get(id: string): LiveConversation | undefined {
    const live = this.#live.get(id);
    return live && viewLive(live);
  }

  async create(): Promise<Result<LiveConversation>> {
    return this.open(this.#ports.ids.ulid());
  }

  /**
   * Makes a conversation live; a new id creates a new one. An interrupted turn is recovered first. A conversation that
   * another window owns is followed.
   */
  async open(id: string): Promise<Result<LiveConversation>> {
    const known = this.get(id);
    if (known !== undefined) return succeeded(known);
    const opening = await openOrFollow(this.#ports, id);
    if (!opening.ok) return opening;
    const live = await this.#joinOrRelease(id, opening.value);
    if ('ok' in live) return live;
    if (!live.log.owned) return succeeded(viewLive(live));
    try {
      await this.#ownership.own(live, opening.value.lock);
    } catch (error) {
      await this.close(id);
      return storageFailure(error);
    }
    return succeeded(viewLive(live));
  }

  /**
   * *Continue here*: asks the owner for the conversation. Resolves once this window owns it: at the end of the running
   * cycle, or at once if nothing is running or the owner has died. `ifFree` takes it only if it has no owner.
   */
  async continueHere(id: string, ifFree = false): Promise<Result<void>> {
    const live = this.#live.get(id);
    if (live === undefined) return failed('not_open', 'This conversation is not open.', 'Open it first.');
    return this.#ownership.take(live, ifFree);
  }

  /** Starts a turn with the user's message. Resolves once it is on disk, not when the turn ends. */
  async send(id: string, content: string, options: RequestOptions = {}): Promise<Result<void>> {
    return this.#withText(id, content, options, (live, text) => this.#turns.send(live, text, options.schema));
  }

  /** Queues a message for the next tool result while a turn runs; without one it starts a turn. */
  async queue(id: string, content: string, options: MessageOptions = {}): Promise<Result<MessageOutcome>> {
    return this.#withText(id, content, options, (live, text) => this.#turns.queueOrInterrupt(live, text, 'queue'));
  }

  /** Aborts what the turn is doing; the message is the next request. */
  async interrupt(id: string, content: string, options: MessageOptions = {}): Promise<Result<MessageOutcome>> {
    return this.#withText(id, content, options, (live, text) => this.#turns.queueOrInterrupt(live, text, 'interrupt'));
  }

  /** Removes a queued message that no request has delivered yet. */
  async withdrawMessage(id: string, text: string): Promise<Result<QueuedMessage>> {
    const live = this.#live.get(id);
    return live === undefined ? notOpen() : this.#turns.withdrawMessage(live, text);
  }

  /** *Deliver Now*: delivers the pending notifications, regardless of the limits. */
  async deliverNow(id: string): Promise<Result<void>> {
    const live = this.#live.get(id);
    return live === undefined ? notOpen() : this.#turns.deliverNow(live);
  }

  /** Continues after a failed turn. */
  async retry(id: string): Promise<Result<void>> {
    const live = this.#live.get(id);
    return live === undefined ? notOpen() : this.#turns.retry(live);
  }

  /** Withdraws pending notifications that the user does not want to be delivered. */
  async dismiss(id: string, notifications: readonly string[]): Promise<Result<number>> {
    const live = this.#live.get(id);
    if (live === undefined || !live.log.owned) return notOpen();
    try {
      return succeeded(await dismiss(live.log, notifications));
    } catch (error) {
      return storageFailure(error);
    }
  }

  /** Offers queued messages that no turn will deliver to the front ends again. */
  async returnMessages(id: string): Promise<void> {
    const live = this.#live.get(id);
    if (live?.log.owned === true && live.turn === undefined) await this.#turns.returnMessages(live);
  }

  /** Call after the settings or the model's permissions changed: held notifications may now wake the model. */
  reconsider(): void {
    for (const live of this.#live.values()) live.activator?.reconsider();
  }

  /** Resolves once the running turn, if any, has ended. */
  async stop(id: string): Promise<void> {
    const live = this.#live.get(id);
    if (live !== undefined) await this.#turns.stop(live);
  }

  /** Waits for the running turn without stopping it. */
  async ended(id: string): Promise<void> {
    await this.#live.get(id)?.turn?.ended;
  }

  /** Withdraws pending notifications by their ids; fails if one of them is not pending. */
  async withdrawPending(id: string, ids: readonly string[], reason: string): Promise<Result<void>> {
    const live = this.#live.get(id);
    return live === undefined ? notOpen() : this.#turns.withdraw(live, ids, reason);
  }

  /** Resolves once no turn is running, including turns that follow immediately. */
  async settled(id: string): Promise<void> {
    for (let turn = this.#live.get(id)?.turn; turn !== undefined; turn = this.#live.get(id)?.turn) await turn.ended;
  }

  async close(id: string): Promise<void> {
    const closed = this.#close(id);
    this.#closing.add(closed);
    try {
      await closed;
    } finally {
      this.#closing.delete(closed);
    }
  }

  async #close(id: string): Promise<void> {
    await this.stop(id);
    const live = this.#live.get(id);
    if (live === undefined) return;
    live.taking?.abort();
    this.#release(live);
    await endBesideTurns(live);
    await live.log.close();
    await live.lock?.release();
  }

  /**
   * Call when the window closes. Writes nothing more, so that an open approval is open again after the next start; then
   * stops everything that is running. Resolves once the files are closed and nothing is running.
   */
  async shutDown(): Promise<void> {
    this.dispose();
    await Promise.all([
      // Those that were being closed are not live any more.
      ...this.#closing,
      ...[...this.#live.values()].map(async (live) => {
        live.taking?.abort();
        unsubscribe(live);
        await live.log.close();
        live.turn?.control.stop();
        await Promise.all([live.turn?.ended, endBesideTurns(live)]);
        this.#release(live);
        await live.lock?.release();
      }),
    ]);
  }

  publish(draft: NotificationDraft, to?: string, sender?: string): Promise<unknown> {
    return this.#dispatcher.publish(draft, to, sender);
  }

  /** The live conversations of this window for which the draft would be queued. */
  listeners(draft: NotificationDraft, to?: string): readonly string[] {
    return this.#dispatcher.listeners(draft, { to });
  }

  /** Adds subscriptions that do not follow from the log, such as a name on the hub or a server whose tools are on. */
  subscribe(conversation: string, subscription: Subscription): Disposable {
    return this.#dispatcher.subscribe(conversation, subscription);
  }

  /**
   * Subscribes the log of an outside agent, watches the files it has seen, and follows its timers and conditions, until
   * the result is disposed of.
   */
  joinListener(log: ConversationLog): Disposable {
    this.#listeners.set(log.id, log);
    const held = this.#subscribeLog(log, new OwnEdits());
    held.add(this.#ports.wakes.join(log, { isIndexed: false }));
    held.add(toDisposable(() => this.#listeners.delete(log.id)));
    return held;
  }

  withdraw(kind: NotificationDraft['kind'], subject: string, reason: string, to?: string): Promise<boolean> {
    return this.#dispatcher.withdraw(kind, subject, reason, to);
  }

  dispose(): void {
    this.#held.dispose();
  }

  /** If the projections fail on a log, its lock is released, so that other conversations can still be opened. */
  async #joinOrRelease(id: string, opening: Opening): Promise<Live | { ok: false; failure: Failure }> {
    try {
      return this.#join(id, opening);
    } catch (error) {
      this.#ports.logger.error(`the conversation ${id} cannot be opened`, error);
      await ('file' in opening.opened ? opening.opened.file : opening.opened).close();
      await opening.lock?.release();
      const message = `This conversation cannot be opened: ${describeError(error)}.`;
      return failed('unreadable', message, 'Its log was not changed. Run Earshot: Show Log for details.');
    }
  }

  #join(id: string, { opened, owner }: Opening): Live {
    const { checkpoints } = this.#ports;
    const log = new ConversationLog({ ...this.#ports, id, opened, tools: this.tools });
    const handOver = new HandOver({
      log,
      requests: this.#ports.frontend.requests,
      isRunning: () => live.turn !== undefined,
      isBetweenCycles: () => isBetweenCycles(live),
      release: () => this.#ownership.release(live),
      asked: () => this.#onDidChange.fire({ conversation: id }),
    });
    const edits = new OwnEdits(() => this.#views.changed());
    const captures = checkpoints && new Captures({ ...this.#ports, checkpoints, log });
    const live: Live = {
      log,
      held: new DisposableStore(),
      handOver,
      edits,
      ...defined({ owner, captures }),
    };
    this.#live.set(id, live);
    live.held.add(handOver);
    live.held.add(log.onDidAppend((folded) => this.#appended(live, folded)));
    live.held.add(log.onDidReset(() => edits.clear()));
    live.held.add(log.onDidReset(() => this.#onDidChange.fire({ conversation: id, reset: true })));
    this.#onDidChangeLive.fire(id);
    return live;
  }

  async #withText<T>(
    id: string,
    typed: string,
    { attachments }: MessageOptions,
    action: (live: Live, text: AcceptedText) => Promise<Result<T>>,
  ): Promise<Result<T>> {
    const live = this.#live.get(id);
    if (live === undefined) return notOpen();
    const accepted = await acceptText(this.#ports, typed, attachments);
    if (!accepted.ok) return accepted;
    const passed = await this.#hooks.userPrompt(live.log, accepted.value.content);
    return passed.ok ? action(live, accepted.value) : passed;
  }

  #release(live: Live): void {
    this.#live.delete(live.log.id);
    unsubscribe(live);
    this.#ports.handles.release(live.log.id);
    live.held.dispose();
    this.#onDidChangeLive.fire(live.log.id);
  }

  /**
   * Subscribes a conversation that this window owns, watches the files it has seen, and makes it an agent on the hub.
   */
  #subscribeOwned({ log, edits }: Live): Disposable {
    const held = this.#subscribeLog(log, edits);
    if (this.#ports.hub !== undefined) held.add(this.#ports.hub.join(viewAsAgent(log)));
    return held;
  }

  #subscribeLog(log: ConversationLog, edits: OwnEdits): DisposableStore {
    const held = new DisposableStore();
    held.add(this.#dispatcher.join(log));
    held.add(this.#views.join(log, edits));
    return held;
  }

  async #repair(id: string): Promise<void> {
    const live = this.#live.get(id);
    await (live === undefined ? this.#listeners.get(id)?.repair() : this.#turns.repair(live));
  }

  #appended(live: Live, folded: Folded): void {
    this.#onDidChange.fire({ conversation: live.log.id, folded });
    this.#hooks.appended(live.log, folded.event);
    const { event } = folded;
    const cycleEnded = event.type === 'tool_call_response' && live.log.state.turn.unanswered.length === 0;
    if (cycleEnded) live.handOver.cycleEnded();
  }
}
