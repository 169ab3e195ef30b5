// One outside agent: a log of its own with the same queue, plan and formats as a conversation's, and no turns.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { Emitter } from '../base/emitter.ts';
import { type Result, succeeded } from '../base/errors.ts';
import { type EventOf } from '../protocol/event.ts';
import { type Settings } from '../protocol/settings.ts';
import { fileScope } from '../protocol/scopes.ts';
import { collect, countDeliverable } from './agent/delivery.ts';
import { applySample } from './agent/sampling.ts';
import { storageFailure } from './conversation/liveConversation.ts';
import { type ConversationLog } from './conversation/log.ts';
import { type WatchArguments } from './conversation/projections/watches.ts';
import { changeWatches } from './conversation/watching.ts';
import { fileStatesOf } from './files/fileState.ts';
import { type Clock, type Ids, type Logger } from './ports/ports.ts';
import { type DeliveryPoint, type RequestConfig, type Sample } from './ports/producers.ts';
import { type Snapshots } from './ports/storage.ts';
import { type Workspace } from './ports/workspace.ts';
import { withdrawShown } from './tools/fileViews.ts';

/** Its model is not known: a usual context window. */
const CONTEXT_WINDOW = 200_000;
/** An agent waits for its tool meanwhile. What takes longer is left for the next delivery. */
const SAMPLED_WITHIN = 1500;
/** Earshot's own configuration is nothing that an outside agent has. */
const NO_CONFIG: RequestConfig = { model: '', mode: '', tools: [], servers: [], instructions: [], skills: [] };

export interface ListenerPorts {
  readonly snapshots: Snapshots;
  readonly workspace: Pick<Workspace, 'resolve' | 'read'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  settings(): Settings;
}

export interface ListenerDeps {
  readonly log: ConversationLog;
  readonly ports: ListenerPorts;
  /** Compares state that is not watched. */
  sample(point: DeliveryPoint): Promise<readonly Sample[]>;
}

/** What an agent is given: the texts of carriers, and the number of the last one; 0: nothing. */
export interface Offer {
  readonly text: string;
  readonly through: number;
}

type View = EventOf<'files_seen'>['seen'][number];

/** The connection that asks for an offer. */
export type Taker = object;

export class Listener implements Disposable {
  readonly #deps: ListenerDeps;
  readonly #held = new DisposableStore();
  readonly #onDidChange: Emitter<void>;
  /** Who was given a carrier and has not said that it was delivered. */
  readonly #leases = new Map<number, Taker>();

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
    const { log, ports } = deps;
    this.#onDidChange = this.#held.add(new Emitter((error) => ports.logger.error('a listener failed', error)));
    this.#held.add(log.onDidAppend(({ event }) => event.type.startsWith('notification_') && this.#onDidChange.fire()));
    this.#held.add(log.onDidReset(() => this.#onDidChange.fire()));
  }

  get log(): ConversationLog {
    return this.#deps.log;
  }

  get watches(): ReadonlySet<string> {
    return this.log.state.watches.globs;
  }

  /** Fires when `count` may have changed. */
  get onDidChange(): Emitter<void>['event'] {
    return this.#onDidChange.event;
  }

  /** How many notifications the next offer would have. */
  get count(): number {
    const { state } = this.log;
    const options = { settings: this.#deps.ports.settings(), contextWindow: CONTEXT_WINDOW };
    const again = [...state.offers.open.keys()].filter((carrier) => !this.#leases.has(carrier)).length;
    return again + (state.pending.count === 0 ? 0 : countDeliverable({ state }, options).total);
  }

  /** Resolves to everything that is watched then. */
  watch(change: WatchArguments): Promise<Result<ReadonlySet<string>>> {
    return this.#attempt(async () => {
      const { log } = this;
      const changed = changeWatches(this.watches, change);
      const { add = [], remove = [] } = change;
      if (changed.ok && add.length + remove.length > 0) {
        await log.append({ type: 'watch_changed', add: [...add], remove: [...remove] });
      }
      return changed;
    });
  }

  /**
   * The agent has read these bytes of a file, or has written them: changes are reported against them. Refuses what the
   * door refuses.
   */
  see(path: string, view: Omit<View, 'path'>, edited: boolean): Promise<Result<void>> {
    const { snapshots, workspace } = this.#deps.ports;
    return this.#attempt(async () => {
      const file = await workspace.resolve(path);
      if (!file.ok) return file;
      const content = await workspace.read(file.value);
      if (!content.ok) return content;
      const { bytes } = content.value;
      // Bytes of another state are not those that the agent has: it is notified of the change without a diff.
      if (snapshots.hash(bytes) === view.hash) await snapshots.put(bytes);
      const seen = [{ ...view, path: file.value.path }];
      // An edit shows nothing of what somebody else changed before it.
      if (edited && this.#hasOtherChange(file.value.path, view.hash)) await this.#carry();
      await withdrawShown(this.log, seen);
      await this.log.append({ type: 'files_seen', seen });
      return succeeded(undefined);
    });
  }

  /** Everything that is pending, and what was offered before and not delivered. Nobody else gets it meanwhile. */
  take(taker: Taker): Promise<Result<Offer>> {
    return this.#attempt(async () => {
      await this.#sample();
      const carried = this.#carry();
      const { open } = this.log.state.offers;
      const free = [...open].filter(([carrier]) => (this.#leases.get(carrier) ?? taker) === taker);
      for (const [carrier] of free) this.#leases.set(carrier, taker);
      await carried;
      return succeeded({ text: free.map(([, text]) => text).join('\n\n'), through: free.at(-1)?.[0] ?? 0 });
    });
  }

  /** The taker's agent has what it was given up to this carrier. */
  accept(taker: Taker, through: number): Promise<Result<void>> {
    return this.#attempt(async () => {
      const carriers = [...this.#leases].flatMap(([carrier, by]) =>
        by === taker && carrier <= through ? carrier : [],
      );
      if (carriers.length === 0) return succeeded(undefined);
      await this.log.append({ type: 'carriers_accepted', carriers });
      for (const carrier of carriers) this.#leases.delete(carrier);
      return succeeded(undefined);
    });
  }

  /** The taker is gone: what it did not say to be delivered is offered again. */
  release(taker: Taker): void {
    const before = this.#leases.size;
    for (const [carrier, by] of this.#leases) if (by === taker) this.#leases.delete(carrier);
    if (this.#leases.size < before) this.#onDidChange.fire();
  }

  dispose(): void {
    this.#held.dispose();
  }

  /** Without an await before the append, so that nothing is queued or withdrawn in between. */
  #carry(): Promise<unknown> {
    const { ports } = this.#deps;
    const carried = collect(this.log, { ...ports, model: () => ({ contextWindow: CONTEXT_WINDOW }) });
    if (carried.notifications === undefined) return Promise.resolve();
    return this.log.append({ type: 'chat_request', content: '', source: 'system', ...carried });
  }

  /** The newest one may hold the agent's own edit besides. */
  #hasOtherChange(path: string, hash: string): boolean {
    const { pending } = this.log.state;
    const ids = ['changed', 'deleted'].flatMap((name) => pending.idsOf({ source: 'file', name }, fileScope(path)));
    return ids.some((id) => {
      const known = pending.newest(id);
      return known !== undefined && fileStatesOf(known).every((state) => state.hash !== hash);
    });
  }

  async #sample(): Promise<void> {
    const { log } = this;
    const { ports, sample } = this.#deps;
    const { state } = log;
    const point: DeliveryPoint = {
      conversation: log.id,
      type: 'result',
      carries: !state.pending.isEmpty,
      state: state.sampled,
      used: NO_CONFIG,
      config: NO_CONFIG,
      instruction: async () => undefined,
      skill: async () => undefined,
      contextTokens: 0,
      contextWindow: CONTEXT_WINDOW,
    };
    const late = Promise.withResolvers<undefined>();
    const timer = ports.clock.after(SAMPLED_WITHIN, () => late.resolve(undefined));
    try {
      for (const one of (await Promise.race([sample(point), late.promise])) ?? [])
        await applySample({ log, ports }, one);
    } finally {
      timer.dispose();
    }
  }

  async #attempt<T>(action: () => Promise<Result<T>>): Promise<Result<T>> {
    try {
      await this.log.repair();
      return await action();
    } catch (error) {
      return storageFailure(error);
    }
  }
}
