// Decides which conversations are live and joins them with the dispatcher, the producers and the loop.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { failed, type Result, succeeded } from '../base/errors.ts';
import { type NotificationDraft } from '../protocol/notification.ts';
import { HandOver } from './agent/handOver.ts';
import { type TurnRequest } from './agent/loop.ts';
import { ConversationLog } from './conversation/log.ts';
import { type Opening, openOrFollow } from './conversation/opening.ts';
import { type Folded } from './conversation/project.ts';
import { type ConversationChange, type Live, type LiveConversation, storageFailure, viewLive } from './live.ts';
import { CalmPublisher } from './notify/calm.ts';
import { type Subscription } from './notify/dispatcher.ts';
import { Hearing } from './notify/hearing.ts';
import { Ownership, unsubscribe } from './ownership.ts';
import { type Ports, type Publisher, type SeenFile, type SeenFiles } from './ports.ts';
import { ToolRegistry } from './tools/registry.ts';
import { Turns } from './turns.ts';

export class Earshot implements Disposable, Publisher {
  readonly #ports: Ports;
  readonly #hearing: Hearing;
  readonly #turns: Turns;
  readonly #ownership: Ownership;
  readonly #live = new Map<string, Live>();
  readonly #held = new DisposableStore();
  readonly #onDidChange: Emitter<ConversationChange>;
  readonly #onDidChangeSeen: Emitter<void>;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#hearing = new Hearing({ ids: ports.ids, mend: (id) => this.#mend(id) });
    const report = (error: unknown) => ports.log.error('a listener failed', error);
    this.#onDidChange = this.#held.add(new Emitter(report));
    this.#onDidChangeSeen = this.#held.add(new Emitter(report));
    const changed = (change: ConversationChange) => this.#onDidChange.fire(change);
    this.#turns = new Turns({ ports, registry: new ToolRegistry(ports.tools), changed });
    this.#ownership = new Ownership({
      ports,
      hearing: this.#hearing,
      turns: this.#turns,
      changed,
      seenChanged: () => this.#onDidChangeSeen.fire(),
      isOpen: (live) => this.#live.get(live.log.id) === live,
      close: (id) => this.close(id),
    });
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
    return live && viewLive(live);
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
    const live = this.#join(id, opening.value);
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
   * *Continue here*: asks the window that has the conversation for it. Resolves once it is here: at the end of the
   * running cycle there, at once if nothing runs or that window has died. `ifFree` asks nobody.
   */
  async continueHere(id: string, ifFree = false): Promise<Result<void>> {
    const live = this.#live.get(id);
    if (live === undefined) return failed('not_open', 'This conversation is not open.', 'Open it first.');
    return this.#ownership.take(live, ifFree);
  }

  /** Starts a turn with the user's words. Resolves once they are on disk, not when the turn ends. */
  async send(id: string, content: string, options: Omit<TurnRequest, 'content'> = {}): Promise<Result<void>> {
    const live = this.#live.get(id);
    return live === undefined ? notOpen() : this.#turns.send(live, { content, ...options });
  }

  /** Resolves once the running turn, if any, has ended. */
  async stop(id: string): Promise<void> {
    const live = this.#live.get(id);
    if (live !== undefined) await this.#turns.stop(live);
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

  #join(id: string, { opened, owner }: Opening): Live {
    const { clock, ids, log: output } = this.#ports;
    const log = new ConversationLog({ id, opened, clock, ids, log: output });
    const handOver = new HandOver({
      log,
      frontend: this.#ports.frontend,
      isRunning: () => live.turn !== undefined,
      giveUp: () => this.#ownership.giveUp(live),
    });
    const live: Live = { log, held: new DisposableStore(), handOver, ...(owner && { owner }) };
    this.#live.set(id, live);
    live.held.add(log.onDidAppend((folded) => this.#appended(live, folded)));
    live.held.add(log.onDidReset(() => this.#onDidChange.fire({ conversation: id, reset: true })));
    return live;
  }

  #release(live: Live): void {
    this.#live.delete(live.log.id);
    unsubscribe(live);
    live.held.dispose();
  }

  /** Only the owner hears and tells. */
  #owned(): Live[] {
    return [...this.#live.values()].filter((live) => live.log.owned);
  }

  async #mend(id: string): Promise<void> {
    const live = this.#live.get(id);
    if (live !== undefined) await this.#turns.mend(live);
  }

  #appended(live: Live, folded: Folded): void {
    if (folded.seenMoved && live.log.owned) this.#onDidChangeSeen.fire();
    this.#onDidChange.fire({ conversation: live.log.id, folded });
    const { event } = folded;
    const cycleEnded = event.type === 'tool_call_response' && live.log.state.turn.unanswered.length === 0;
    if (cycleEnded) live.handOver.cycleEnded();
  }
}

function notOpen(): Result<void> {
  return failed('not_open', 'This conversation is not open.', 'Start a new chat.');
}
