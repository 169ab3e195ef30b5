// Decides which conversations are live and joins them with the dispatcher, the producers and the loop.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { type Failure, FailureError, failed, type Result, succeeded } from '../base/errors.ts';
import { type NotificationDraft } from '../protocol/notification.ts';
import { HandOver } from './agent/handOver.ts';
import { cycleDeps, recoverTurn, runTurn, startTurn, type TurnDeps, type TurnRequest } from './agent/loop.ts';
import { nameConversation } from './agent/titles.ts';
import { ConversationLog } from './conversation/log.ts';
import { openOrFollow } from './conversation/opening.ts';
import { type Folded } from './conversation/project.ts';
import { CalmPublisher } from './notify/calm.ts';
import { type Subscription } from './notify/dispatcher.ts';
import { Hearing } from './notify/hearing.ts';
import { type Ports, type Publisher, type SeenFile, type SeenFiles } from './ports.ts';
import { type HeldLock, type Owner } from './storagePorts.ts';
import { ToolRegistry } from './tools/registry.ts';

export interface ConversationChange {
  readonly conversation: string;
  /** Absent when only the running state changed. */
  readonly folded?: Folded;
  /** The log cannot be written now; the turn has ended. */
  readonly failure?: Failure;
  /** Everything is to be drawn anew: after a failed write, or because another window took it over or gave it up. */
  readonly reset?: true;
}

export interface LiveConversation {
  readonly log: ConversationLog;
  readonly running: boolean;
  /** What was found damaged when it was opened. */
  readonly damage: readonly Failure[];
  /** False: another window writes it, and this one follows. */
  readonly owned: boolean;
  readonly owner?: Owner;
}

interface Live {
  log: ConversationLog;
  held: DisposableStore;
  handOver: HandOver;
  lock?: HeldLock;
  /** Who writes it, where this window only follows. */
  owner?: Owner;
  /** This window said so, and waits. */
  taking?: AbortController;
  mending?: Promise<void>;
  /** Its subscriptions, while this window writes it. */
  hearing?: Disposable;
  turn?: { abort: AbortController; ended: Promise<void> };
  /** Asking for a title goes on beside whatever comes next; once in each window. */
  naming?: { abort: AbortController; ended: Promise<void> };
}

export class Earshot implements Disposable, Publisher {
  readonly #ports: Ports;
  readonly #registry: ToolRegistry;
  readonly #hearing: Hearing;
  readonly #live = new Map<string, Live>();
  readonly #held = new DisposableStore();
  readonly #onDidChange: Emitter<ConversationChange>;
  readonly #onDidChangeSeen: Emitter<void>;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#registry = new ToolRegistry(ports.tools);
    this.#hearing = new Hearing({ ids: ports.ids, mend: (id) => this.#mendById(id) });
    const report = (error: unknown) => ports.log.error('a listener failed', error);
    this.#onDidChange = this.#held.add(new Emitter(report));
    this.#onDidChangeSeen = this.#held.add(new Emitter(report));
    for (const producer of ports.producers) {
      // Released in reverse order: the producer ends first, then what was still held back goes out.
      const calm = this.#held.add(new CalmPublisher({ clock: ports.clock, outlet: this.#hearing }));
      this.#held.add(producer.start(calm, this.seenFiles));
    }
  }

  get onDidChange(): Emitter<ConversationChange>['event'] {
    return this.#onDidChange.event;
  }

  get(id: string): LiveConversation | undefined {
    const live = this.#live.get(id);
    return live && view(live);
  }

  async create(): Promise<Result<LiveConversation>> {
    return this.open(this.#ports.ids.ulid());
  }

  /**
   * Makes a conversation live; a new id makes a new one. What was interrupted is recovered first. If another window has
   * it, it is followed.
   */
  async open(id: string): Promise<Result<LiveConversation>> {
    const known = this.get(id);
    if (known !== undefined) return succeeded(known);
    const opening = await openOrFollow(this.#ports, id);
    if (!opening.ok) return opening;
    const { opened, lock, owner } = opening.value;
    const { clock, ids, log: output } = this.#ports;
    const log = new ConversationLog({ id, opened, clock, ids, log: output });
    const handOver = new HandOver({
      log,
      frontend: this.#ports.frontend,
      isRunning: () => live.turn !== undefined,
      giveUp: () => this.#giveUp(live),
    });
    const live: Live = { log, held: new DisposableStore(), handOver, ...(owner && { owner }) };
    this.#live.set(id, live);
    live.held.add(log.onDidAppend((folded) => this.#appended(live, folded)));
    live.held.add(log.onDidReset(() => this.#onDidChange.fire({ conversation: id, reset: true })));
    if (!log.owned) return succeeded(view(live));
    try {
      await this.#own(live, lock);
    } catch (error) {
      await this.close(id);
      return storageFailure(error);
    }
    return succeeded(view(live));
  }

  /**
   * *Continue here*: asks the window that has the conversation for it. Resolves once it is here: at the end of the
   * running cycle there, at once if nothing runs or that window has died. `ifFree` asks nobody.
   */
  async continueHere(id: string, ifFree = false): Promise<Result<void>> {
    const live = this.#live.get(id);
    if (live === undefined) return failed('not_open', 'This conversation is not open.', 'Open it first.');
    if (live.log.owned || live.taking !== undefined || this.#ports.lock === undefined) return succeeded(undefined);
    const taking = new AbortController();
    live.taking = taking;
    try {
      const lock = await (ifFree ? this.#ports.lock.acquire(id) : this.#ports.lock.request(id, taking.signal));
      if (lock === undefined) return succeeded(undefined);
      if (this.#live.get(id) !== live) {
        await lock.release();
        return failed('cancelled', 'The conversation was closed meanwhile.');
      }
      await live.log.closeFile();
      const opened = await this.#ports.store.open(id);
      if (!opened.ok) {
        await lock.release();
        await this.close(id);
        return opened;
      }
      live.log.become(opened.value);
      delete live.owner;
      await this.#own(live, lock);
      return succeeded(undefined);
    } catch (error) {
      if (taking.signal.aborted) return failed('cancelled', 'The conversation was closed meanwhile.');
      return storageFailure(error);
    } finally {
      delete live.taking;
      if (this.get(id)?.owned === true) this.#onDidChange.fire({ conversation: id, reset: true });
    }
  }

  /** Starts a turn with the user's words. Resolves once they are on disk, not when the turn ends. */
  async send(id: string, content: string, options: Omit<TurnRequest, 'content'> = {}): Promise<Result<void>> {
    const live = this.#live.get(id);
    if (live === undefined) return failed('not_open', 'This conversation is not open.', 'Start a new chat.');
    const unusable = options.schema && (await import('./agent/structured.ts')).whyUnusable(options.schema);
    if (unusable !== undefined) {
      return failed('bad_schema', `schema: it cannot be used: ${unusable}.`, 'Send it again with a plain JSON Schema.');
    }
    try {
      await this.#mend(live);
    } catch (error) {
      return storageFailure(error);
    }
    if (live.turn !== undefined) {
      return failed('running', 'The agent is still working.', 'Wait for it to end, or stop it.');
    }
    try {
      const started = startTurn(this.#turnDeps(live), { content, ...options });
      this.#run(live, started);
      await started;
      return succeeded(undefined);
    } catch (error) {
      return storageFailure(error);
    }
  }

  /** Resolves once the running turn, if any, has ended. */
  async stop(id: string): Promise<void> {
    const turn = this.#live.get(id)?.turn;
    turn?.abort.abort();
    await turn?.ended;
  }

  /** Resolves once the running turn, if any, has ended by itself. */
  async settled(id: string): Promise<void> {
    await this.#live.get(id)?.turn?.ended;
  }

  async close(id: string): Promise<void> {
    await this.stop(id);
    const live = this.#live.get(id);
    if (live === undefined) return;
    live.taking?.abort();
    this.#release(live);
    live.naming?.abort.abort();
    await live.naming?.ended;
    await live.log.close();
    await live.lock?.release();
    this.#onDidChangeSeen.fire();
  }

  #release(live: Live): void {
    this.#live.delete(live.log.id);
    this.#unsubscribe(live);
    live.held.dispose();
  }

  #unsubscribe(live: Live): void {
    live.hearing?.dispose();
    delete live.hearing;
  }

  /**
   * The window ends. Nothing more is written, so that an approval that is open now is open again at the next start; then
   * what still runs is given up. Resolves once the files are closed and nothing runs.
   */
  async shutDown(): Promise<void> {
    this.dispose();
    await Promise.all(
      [...this.#live.values()].map(async (live) => {
        live.taking?.abort();
        await live.log.close();
        live.turn?.abort.abort();
        live.naming?.abort.abort();
        await live.turn?.ended;
        await live.naming?.ended;
        this.#release(live);
        await live.lock?.release();
      }),
    );
  }

  publish(draft: NotificationDraft, to?: string, sender?: string): Promise<void> {
    return this.#hearing.publish(draft, to, sender);
  }

  /** Beyond what the conversation's log gives it: a name on the hub, a server whose tools are on. */
  subscribe(conversation: string, subscription: Subscription): Disposable {
    return this.#hearing.subscribe(conversation, subscription);
  }

  withdraw(kind: NotificationDraft['kind'], subject: string, reason: string, to?: string): Promise<boolean> {
    return this.#hearing.withdraw(kind, subject, reason, to);
  }

  readonly seenFiles: SeenFiles = {
    all: () => {
      const paths = new Set(this.#owned().flatMap((live) => [...live.log.state.seen.paths()]));
      return [...paths].flatMap((path) => this.seenFiles.get(path) ?? []);
    },
    get: (path) => {
      const by = this.#owned().flatMap((live): SeenFile['by'] => {
        const state = live.log.state.seen.get(path);
        return state === undefined ? [] : [{ conversation: live.log.id, ...state }];
      });
      return by.length === 0 ? undefined : { path, by };
    },
    onDidChange: (listener) => this.#onDidChangeSeen.event(listener),
  };

  dispose(): void {
    this.#held.dispose();
  }

  #turnDeps(live: Live): TurnDeps {
    return { log: live.log, registry: this.#registry, ports: { ...this.#ports, frontend: live.handOver } };
  }

  /** Only the owner hears and tells. */
  #owned(): Live[] {
    return [...this.#live.values()].filter((live) => live.log.owned);
  }

  /** From here on this window writes. A turn that was handed over between two cycles goes on; others are recovered. */
  async #own(live: Live, lock: HeldLock | undefined): Promise<void> {
    const { log } = live;
    if (lock !== undefined) live.lock = lock;
    if (log.state.turn.key === '') await log.append({ type: 'conversation_started', key: this.#ports.ids.key() });
    live.hearing = this.#hearing.join(log);
    this.#onDidChangeSeen.fire();
    const between = lock?.handedOver === true && log.state.turn.isOpen && log.state.turn.unanswered.length === 0;
    if (between || (await recoverTurn(this.#turnDeps(live)))) this.#run(live);
    if (lock !== undefined) live.held.add(lock.onDidRequest(() => live.handOver.request()));
  }

  /** After a failed write. The turn that it ended is still open in the log: it is recovered as after a restart. */
  async #mend(live: Live): Promise<void> {
    const mend = async () => {
      await live.log.mend();
      await live.turn?.ended;
      if (live.log.state.turn.isOpen) await recoverTurn(this.#turnDeps(live));
    };
    if (live.log.isBroken || (live.turn === undefined && live.log.state.turn.isOpen)) {
      live.mending ??= mend().finally(() => {
        delete live.mending;
      });
    }
    await live.mending;
  }

  async #mendById(id: string): Promise<void> {
    const live = this.#live.get(id);
    if (live !== undefined) await this.#mend(live);
  }

  #giveUp(live: Live): void {
    const report = (error: unknown) => this.#ports.log.error('a conversation could not be handed over', error);
    void this.#becomeFollower(live).catch(report);
  }

  /** Nothing is written from the first line on, so that the turn stays open for the other window. */
  async #becomeFollower(live: Live): Promise<void> {
    const { id } = live.log;
    const closed = live.log.closeFile();
    live.turn?.abort.abort();
    live.naming?.abort.abort();
    this.#unsubscribe(live);
    await closed;
    await live.turn?.ended;
    await live.naming?.ended;
    await live.lock?.release();
    delete live.lock;
    const followed = await this.#ports.store.follow(id);
    if (!followed.ok || this.#live.get(id) !== live) return this.close(id);
    live.log.become(followed.value);
    const owner = await this.#ports.lock?.owner(id);
    if (owner !== undefined) live.owner = owner;
    this.#onDidChangeSeen.fire();
    this.#onDidChange.fire({ conversation: id, reset: true });
  }

  /** `started` is what must be on disk before the first model call. */
  #run(live: Live, started: Promise<void> = Promise.resolve()): void {
    const abort = new AbortController();
    let failure: Failure | undefined;
    const turn = async () => {
      try {
        await started;
        const end = await runTurn(this.#turnDeps(live), abort.signal);
        if (end.outcome === 'done') this.#name(live);
      } catch (error) {
        // Nothing more can be written; after the window's end nobody needs to hear of it.
        if (!(error instanceof FailureError)) this.#ports.log.error('the turn failed unexpectedly', error);
        else if (error.failure.code === 'storage') failure = error.failure;
      } finally {
        delete live.turn;
        this.#onDidChange.fire({ conversation: live.log.id, ...(failure !== undefined && { failure }) });
        live.handOver.check();
      }
    };
    live.turn = { abort, ended: turn() };
    this.#onDidChange.fire({ conversation: live.log.id });
  }

  #name(live: Live): void {
    if (live.naming !== undefined) return;
    const abort = new AbortController();
    const ended = nameConversation(cycleDeps(this.#turnDeps(live)), abort.signal).catch((error: unknown) => {
      if (!(error instanceof FailureError)) this.#ports.log.error('naming the conversation failed', error);
    });
    live.naming = { abort, ended };
  }

  #appended(live: Live, folded: Folded): void {
    if (folded.seenMoved && live.log.owned) this.#onDidChangeSeen.fire();
    this.#onDidChange.fire({ conversation: live.log.id, folded });
    const { event } = folded;
    const cycleEnded = event.type === 'tool_call_response' && live.log.state.turn.unanswered.length === 0;
    if (cycleEnded) live.handOver.cycleEnded();
  }
}

function view(live: Live): LiveConversation {
  const { log, owner } = live;
  const running = live.turn !== undefined;
  return { log, damage: log.damage, running, owned: log.owned, ...(owner !== undefined && { owner }) };
}

function storageFailure(error: unknown): { ok: false; failure: Failure } {
  if (error instanceof FailureError) return { ok: false, failure: error.failure };
  throw error;
}
