// One outside agent: it has its own log, with the queue, plan and formats of a conversation, but no turns.
import { within } from '../base/async.ts';
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
import { fileStatesOf, GONE } from './files/fileState.ts';
import { type Clock, type Ids, type Logger } from './ports/ports.ts';
import { type DeliveryPoint, type RequestConfig, type Sample } from './ports/producers.ts';
import { type Snapshots } from './ports/storage.ts';
import { type Workspace } from './ports/workspace.ts';
import { withdrawShown } from './tools/fileViews.ts';
import { fileChanged } from './notify/wording/fileChange.ts';
import { type SeenState } from './ports/fileViews.ts';
import { ListenerWaking } from './listenerWaking.ts';

/** A usual context window, since the agent's model is not known. */
const CONTEXT_WINDOW = 200_000;
/** A short limit, because the agent waits meanwhile. Slower samples are left for the next delivery. */
const SAMPLED_WITHIN = 1500;
/** What happened earlier is not what a command of the agent did that ends now. */
const LONGEST_COMMAND = 10 * 60_000;
/** Earshot's own configuration does not apply to outside agents. */
const NO_CONFIG: RequestConfig = {
  ...{ model: '', mode: '', tools: [], servers: [], instructions: [], skills: [] },
  ...{ folders: [], date: '' },
};

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

/** The texts of carriers for an agent, and the number of the last carrier; 0: there is none. */
export interface Offer {
  readonly text: string;
  readonly through: number;
}

type View = EventOf<'files_seen'>['seen'][number];

/** The connection that requests an offer. */
export type Taker = object;

export class Listener implements Disposable {
  readonly #deps: ListenerDeps;
  readonly #held = new DisposableStore();
  readonly #onDidChange: Emitter<void>;
  /** For each offered carrier that is not confirmed as delivered: the taker that has it. */
  readonly #leases = new Map<number, Taker>();
  readonly waking: ListenerWaking;
  /** The takers that were woken and have not confirmed what woke them. */
  readonly #wokenTakers = new Set<Taker>();

  /** In milliseconds since 1970. */
  #lastTaken = 0;

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
    const { log, ports } = deps;
    this.waking = this.#held.add(new ListenerWaking({ log, ports }));
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

  /** The number of pending notifications, plus the number of earlier carriers to offer again. */
  get count(): number {
    const { state } = this.log;
    const options = { settings: this.#deps.ports.settings(), contextWindow: CONTEXT_WINDOW };
    const again = [...state.offers.open.keys()].filter((carrier) => !this.#leases.has(carrier)).length;
    return again + (state.pending.count === 0 ? 0 : countDeliverable({ state }, options).total);
  }

  /** Resolves to everything that is watched after the change. */
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
   * Call when the agent has read these bytes of a file, or written them with an edit: later changes are reported
   * against them. What others changed right before or after the edit is reported without it. Refuses what the door
   * refuses.
   */
  see(path: string, view: Omit<View, 'path'>, edit?: OwnEdit): Promise<Result<void>> {
    const { ports } = this.#deps;
    const { snapshots, workspace } = ports;
    const { log } = this;
    return this.#attempt(async () => {
      const file = await workspace.resolve(path);
      if (!file.ok) return file;
      const content = await workspace.read(file.value);
      if (!content.ok) return content;
      const { bytes } = content.value;
      // If the file has changed meanwhile, the agent's bytes are not known: the change is reported without a diff.
      if (snapshots.hash(bytes) === view.hash) await snapshots.put(bytes);
      const { path: name } = file.value;
      const known = log.state.seen.get(name);
      const own = edit && (await separateOwnEdit(snapshots, name, { known, edit, view, bytes }));
      // Some lines of other bytes do not show what changed in the rest.
      if (view.part !== undefined && known !== undefined && known.hash !== view.hash) await this.#sample();
      // In one step: a report of the edited file that is queued meanwhile would be carried as somebody else's change.
      const appended: Promise<unknown>[] = [withdrawShown(log, [{ ...view, path: name }])];
      if (own?.earlier !== undefined) appended.push(applySample({ log, ports }, own.earlier));
      // An edit does not show the agent what somebody else had changed before.
      if (edit !== undefined && this.#hasOtherChange(name, view.hash)) appended.push(this.#carry());
      appended.push(log.append({ type: 'files_seen', seen: [{ ...view, path: name, hash: own?.hash ?? view.hash }] }));
      if (own?.later !== undefined) appended.push(applySample({ log, ports }, own.later));
      await Promise.all(appended);
      return succeeded(undefined);
    });
  }

  /** Offers everything pending, and earlier offers that were not delivered. No other taker gets these meanwhile. */
  take(taker: Taker): Promise<Result<Offer>> {
    return this.#attempt(async () => {
      this.#lastTaken = this.#deps.ports.clock.now();
      await this.#sample();
      const carried = this.#carry();
      const { open } = this.log.state.offers;
      const free = [...open].filter(([carrier]) => (this.#leases.get(carrier) ?? taker) === taker);
      for (const [carrier] of free) this.#leases.set(carrier, taker);
      if (free.length === 0) this.#wokenTakers.delete(taker);
      await carried;
      return succeeded({ text: free.map(([, text]) => text).join('\n\n'), through: free.at(-1)?.[0] ?? 0 });
    });
  }

  /** A command of the agent that commits or pushes has ended: what it pushed is its own. It began after the last delivery. */
  ranGit(): Promise<Result<void>> {
    return this.#attempt(async () => {
      const since = Math.max(this.#lastTaken, this.#deps.ports.clock.now() - LONGEST_COMMAND);
      await this.log.append({ type: 'git_ran', since: new Date(since).toISOString() });
      return succeeded(undefined);
    });
  }

  /** The taker's agent is idle: calls `done` once, with whether something wakes it now. */
  wait(taker: Taker, done: (woken: boolean) => void): Disposable {
    return this.waking.wait((woken) => {
      if (woken) this.#wokenTakers.add(taker);
      done(woken);
    });
  }

  /** Call when the taker's agent has everything up to this carrier. */
  accept(taker: Taker, through: number): Promise<Result<void>> {
    return this.#attempt(async () => {
      const carriers = [...this.#leases].flatMap(([carrier, by]) =>
        by === taker && carrier <= through ? carrier : [],
      );
      this.#wokenTakers.delete(taker);
      if (carriers.length === 0) return succeeded(undefined);
      await this.log.append({ type: 'carriers_accepted', carriers });
      for (const carrier of carriers) this.#leases.delete(carrier);
      return succeeded(undefined);
    });
  }

  /** Call when the taker is gone: carriers that it did not confirm are offered again. */
  release(taker: Taker): void {
    const before = this.#leases.size;
    for (const [carrier, by] of this.#leases) if (by === taker) this.#leases.delete(carrier);
    if (this.#leases.size < before) this.#onDidChange.fire();
    if (this.#wokenTakers.delete(taker)) this.waking.owe();
  }

  dispose(): void {
    this.#held.dispose();
  }

  /** No await before the append, so that nothing is queued or withdrawn in between. */
  #carry(): Promise<unknown> {
    const { ports } = this.#deps;
    const carried = collect(this.log, { ...ports, model: () => ({ contextWindow: CONTEXT_WINDOW }) });
    if (carried.notifications === undefined) return Promise.resolve();
    return this.log.append({ type: 'chat_request', content: '', source: 'system', ...carried });
  }

  /** Whether a pending notification reports a state other than the agent's own edit. */
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
      contextTokens: 0,
      contextWindow: CONTEXT_WINDOW,
    };
    const samples = await within(ports.clock, SAMPLED_WITHIN, Promise.resolve(sample(point)));
    for (const one of samples ?? []) await applySample({ log, ports }, one);
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

/** The file around the edit, as far as the agent's tool names it; `after` is absent if nothing was changed since. */
interface OwnEdit {
  readonly before?: string;
  readonly after?: string;
}

interface SeparatedEdit {
  /** The bytes that the agent knows from now on. */
  readonly hash: string;
  /** What others changed between the last view and the edit. */
  readonly earlier?: Sample;
  /** What others changed since the edit. */
  readonly later?: Sample;
}

interface EditedFile {
  /** What the agent knew of the file before. */
  readonly known: SeenState | undefined;
  readonly edit: OwnEdit;
  readonly view: { readonly hash: string };
  /** The file's present bytes. */
  readonly bytes: Uint8Array;
}

/**
 * Separates an outside agent's own edit of a file from what others changed right before and right after it, by content.
 */
async function separateOwnEdit(
  snapshots: Snapshots,
  path: string,
  { known, edit, view, bytes }: EditedFile,
): Promise<SeparatedEdit> {
  const encoder = new TextEncoder();
  const [before, after] = [edit.before, edit.after].map((text) =>
    text === undefined ? undefined : encoder.encode(text),
  );
  const changed = (from: Uint8Array | undefined, to: Uint8Array, hash: string): Sample => {
    const draft = fileChanged(path, from, { bytes: to, hash }, { type: 'outside' });
    return { kind: draft.kind, subject: draft.subject ?? '', draft };
  };
  const found: { earlier?: Sample; later?: Sample } = {};
  if (before !== undefined && known !== undefined && known.hash !== GONE) {
    const hash = snapshots.hash(before);
    if (hash !== known.hash && hash !== known.announced) {
      await snapshots.put(before);
      found.earlier = changed(await snapshots.get(known.hash), before, hash);
    }
  }
  if (after === undefined) return { ...found, hash: view.hash };
  const present = snapshots.hash(bytes);
  const own = await snapshots.put(after);
  if (own === present) return { ...found, hash: own };
  await snapshots.put(bytes);
  return { ...found, hash: own, later: changed(after, bytes, present) };
}
