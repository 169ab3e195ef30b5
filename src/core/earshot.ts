// Decides which conversations are live and joins them with the dispatcher, the producers and the loop.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { type Failure, FailureError, failed, type Result, succeeded } from '../base/errors.ts';
import { type NotificationDraft } from '../protocol/notification.ts';
import { recoverTurn, runTurn, startTurn, type TurnDeps } from './agent/loop.ts';
import { ConversationLog } from './conversation/log.ts';
import { type Folded } from './conversation/project.ts';
import { Dispatcher } from './notify/dispatcher.ts';
import { enqueue, withdraw } from './notify/queue.ts';
import { type Ports, type Publisher, type SeenFile, type SeenFiles } from './ports.ts';
import { ToolRegistry } from './tools/registry.ts';

export interface ConversationChange {
  readonly conversation: string;
  /** Absent when only the running state changed. */
  readonly folded?: Folded;
  /** The log cannot be written any more; the turn has ended. */
  readonly failure?: Failure;
}

export interface LiveConversation {
  readonly log: ConversationLog;
  readonly running: boolean;
  /** What was found damaged when it was opened. */
  readonly damage: readonly Failure[];
}

interface Live {
  log: ConversationLog;
  damage: readonly Failure[];
  held: DisposableStore;
  subscribed: Map<string, Disposable>;
  turn?: { abort: AbortController; ended: Promise<void> };
}

export class Earshot implements Disposable, Publisher {
  readonly #ports: Ports;
  readonly #registry: ToolRegistry;
  readonly #dispatcher = new Dispatcher();
  readonly #live = new Map<string, Live>();
  readonly #held = new DisposableStore();
  readonly #onDidChange: Emitter<ConversationChange>;
  readonly #onDidChangeSeen: Emitter<void>;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#registry = new ToolRegistry(ports.tools);
    const report = (error: unknown) => ports.log.error('a listener failed', error);
    this.#onDidChange = this.#held.add(new Emitter(report));
    this.#onDidChangeSeen = this.#held.add(new Emitter(report));
    for (const producer of ports.producers) this.#held.add(producer.start(this, this.seenFiles));
  }

  get onDidChange(): Emitter<ConversationChange>['event'] {
    return this.#onDidChange.event;
  }

  get(id: string): LiveConversation | undefined {
    const live = this.#live.get(id);
    return live && { log: live.log, damage: live.damage, running: live.turn !== undefined };
  }

  async create(): Promise<Result<LiveConversation>> {
    return this.open(this.#ports.ids.ulid());
  }

  /** Makes a conversation live; a new id makes a new one. What was interrupted is recovered first. */
  async open(id: string): Promise<Result<LiveConversation>> {
    const known = this.get(id);
    if (known !== undefined) return succeeded(known);
    const opened = await this.#ports.store.open(id);
    if (!opened.ok) return opened;
    const { clock, ids, log: output } = this.#ports;
    const log = new ConversationLog({ id, opened: opened.value, clock, ids, log: output });
    const live: Live = { log, damage: opened.value.damage, held: new DisposableStore(), subscribed: new Map() };
    this.#live.set(id, live);
    live.held.add(log.onDidAppend((folded) => this.#appended(live, folded)));
    try {
      if (log.state.turn.key === '') await log.append({ type: 'conversation_started', key: ids.key() });
      this.#subscribeToSeen(live);
      const goesOn = await recoverTurn(this.#turnDeps(live));
      if (goesOn) this.#run(live);
    } catch (error) {
      await this.close(id);
      return storageFailure(error);
    }
    return succeeded({ log, damage: live.damage, running: live.turn !== undefined });
  }

  /** Starts a turn with the user's words. Resolves once they are on disk, not when the turn ends. */
  async send(id: string, content: string): Promise<Result<void>> {
    const live = this.#live.get(id);
    if (live === undefined) return failed('not_open', 'This conversation is not open.', 'Start a new chat.');
    if (live.turn !== undefined) {
      return failed('running', 'The agent is still working.', 'Wait for it to end, or stop it.');
    }
    try {
      const started = startTurn(this.#turnDeps(live), content);
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
    this.#release(live);
    await live.log.close();
    this.#onDidChangeSeen.fire();
  }

  #release(live: Live): void {
    this.#live.delete(live.log.id);
    for (const subscription of live.subscribed.values()) subscription.dispose();
    live.held.dispose();
  }

  /**
   * The window ends. Nothing more is written, so that an approval that is open now is open again at the next start; then
   * what still runs is given up. Resolves once the files are closed and nothing runs.
   */
  async shutDown(): Promise<void> {
    this.dispose();
    await Promise.all(
      [...this.#live.values()].map(async (live) => {
        await live.log.close();
        live.turn?.abort.abort();
        await live.turn?.ended;
        this.#release(live);
      }),
    );
  }

  async publish(draft: NotificationDraft, to?: string): Promise<void> {
    const listeners = [...this.#dispatcher.listeners(draft)].filter((id) => to === undefined || id === to);
    await Promise.all(
      listeners.map(async (id) => {
        const live = this.#live.get(id);
        if (live !== undefined) await enqueue(live.log, this.#ports.ids, draft);
      }),
    );
  }

  async withdraw(kind: NotificationDraft['kind'], subject: string, reason: string, to?: string): Promise<boolean> {
    const lives = [...this.#live.values()].filter((live) => to === undefined || live.log.id === to);
    const withdrawn = await Promise.all(lives.map((live) => withdraw(live.log, kind, subject, reason)));
    return withdrawn.includes(true);
  }

  readonly seenFiles: SeenFiles = {
    all: () => {
      const paths = new Set([...this.#live.values()].flatMap((live) => [...live.subscribed.keys()]));
      return [...paths].flatMap((path) => this.seenFiles.get(path) ?? []);
    },
    get: (path) => {
      const by = [...this.#live.values()].flatMap((live): SeenFile['by'] => {
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
    return { log: live.log, registry: this.#registry, ports: this.#ports };
  }

  /** `started` is what must be on disk before the first model call. */
  #run(live: Live, started: Promise<void> = Promise.resolve()): void {
    const abort = new AbortController();
    let failure: Failure | undefined;
    const turn = async () => {
      try {
        await started;
        await runTurn(this.#turnDeps(live), abort.signal);
      } catch (error) {
        // Nothing more can be written; after the window's end nobody needs to hear of it.
        if (!(error instanceof FailureError)) this.#ports.log.error('the turn failed unexpectedly', error);
        else if (error.failure.code === 'storage') failure = error.failure;
      } finally {
        delete live.turn;
        this.#onDidChange.fire({ conversation: live.log.id, ...(failure !== undefined && { failure }) });
      }
    };
    live.turn = { abort, ended: turn() };
    this.#onDidChange.fire({ conversation: live.log.id });
  }

  #appended(live: Live, folded: Folded): void {
    if (folded.seenMoved) this.#subscribeToSeen(live);
    this.#onDidChange.fire({ conversation: live.log.id, folded });
  }

  /** Seeing a file subscribes to it. */
  #subscribeToSeen(live: Live): void {
    for (const path of live.log.state.seen.paths()) {
      if (live.subscribed.has(path)) continue;
      live.subscribed.set(path, this.#dispatcher.subscribe(live.log.id, { scope: `file:${path}` }));
    }
    this.#onDidChangeSeen.fire();
  }
}

function storageFailure(error: unknown): { ok: false; failure: Failure } {
  if (error instanceof FailureError) return { ok: false, failure: error.failure };
  throw error;
}
