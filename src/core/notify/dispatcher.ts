// Dispatches notifications: matches their scopes against the subscriptions of live conversations, and queues each for
// its subscribers.
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { KINDS, SHIPPED_KINDS } from '../../protocol/kinds.ts';
import { type Kind, type NotificationDraft, printKind } from '../../protocol/notification.ts';
import { nameInScope, scopeOf, fileScope, handleScope } from '../../protocol/scopes.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { fileStatesOf } from '../files/fileState.ts';
import { compileGlob, globKeyOf, keysFor } from '../files/globs.ts';
import { type Ids } from '../ports/ports.ts';
import { type Addressed, type Outlet, type Subscription } from './outlet.ts';
import { enqueue, withdraw } from './queue.ts';
import { type LogEvent } from '../../protocol/event.ts';

/** The scope of a plugin's notification for every live conversation. */
export const PLUGINS_SCOPE = scopeOf('kind', 'plugin');

/** The kinds that every live conversation gets, whatever their scopes. */
const SCOPES_FOR_ALL: readonly string[] = [
  ...SHIPPED_KINDS.filter((kind) => KINDS[kind].audience === 'live').map((kind) => scopeOf('kind', kind)),
  PLUGINS_SCOPE,
];

export interface DispatcherDeps {
  readonly ids: Ids;
  /** Resolves once a log that could not be written is writable again; rejects while it is not. */
  repair(conversation: string): Promise<void>;
  /** Whether a kind goes only to conversations that subscribed to its scopes by their own acts. */
  onlyOwn?(kind: string): boolean;
  /** Whether repetitions of a kind are queued too. */
  eachTime?(kind: string): boolean;
}

export class Dispatcher implements Outlet {
  readonly #deps: DispatcherDeps;
  readonly #index = new SubscriptionIndex();
  readonly #logs = new Map<string, ConversationLog>();

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  /** Subscribes the conversation until the result is disposed of. */
  join(log: ConversationLog): Disposable {
    const held = new DisposableStore();
    this.#logs.set(log.id, log);
    held.add(toDisposable(() => this.#logs.delete(log.id)));
    for (const scope of [...SCOPES_FOR_ALL, scopeOf('conversation', log.id)])
      held.add(this.subscribe(log.id, { scope }));
    const own = held.add(new OwnScopes(log, (scope) => this.subscribe(log.id, { scope })));
    held.add(log.onDidReset(() => own.refresh()));
    held.add(log.onDidAppend(({ event }) => own.apply(event)));
    return held;
  }

  /** For subscriptions that do not follow from the log, such as a name on the hub or a server whose tools are on. */
  subscribe(conversation: string, subscription: Subscription): Disposable {
    return this.#index.subscribe(conversation, subscription);
  }

  /** The conversations owned by this window for which the draft would be queued. */
  listeners(draft: NotificationDraft, addressed: Addressed): readonly string[] {
    const kind = printKind(draft.kind);
    const scopes = [...(draft.scopes ?? [])];
    if (this.#deps.onlyOwn?.(kind) !== true) scopes.push(scopeOf('kind', kind));
    const found: string[] = [];
    for (const id of this.#index.listeners({ scopes }, addressed)) {
      if (this.#logs.get(id)?.owned === true) found.push(id);
    }
    return found;
  }

  publish(draft: NotificationDraft, to?: string, sender?: string): Promise<unknown> {
    const listeners = this.listeners(draft, { to, sender });
    const [only] = listeners;
    if (listeners.length === 1 && only !== undefined) return this.deliver(draft, only);
    return Promise.all(listeners.map((id) => this.deliver(draft, id)));
  }

  deliver(draft: NotificationDraft, listener: string): Promise<unknown> {
    const { ids, repair, eachTime } = this.#deps;
    const log = this.#logs.get(listener);
    if (log?.owned !== true) return Promise.resolve();
    if (isKnownState(log, draft)) return Promise.resolve();
    const queue = () => enqueue(log, ids, draft, draft.data !== undefined && eachTime?.(printKind(draft.kind)));
    return log.isBroken ? repair(listener).then(queue) : queue();
  }

  isPending(kind: Kind, subject: string, listener: string): boolean {
    return (this.#logs.get(listener)?.state.pending.idsOf(kind, subject).length ?? 0) > 0;
  }

  async withdraw(kind: Kind, subject: string, reason: string, to?: string): Promise<boolean> {
    const logs = [...this.#logs.values()].filter((log) => log.owned && (to === undefined || log.id === to));
    const withdrawn = await Promise.all(
      logs.map(async (log) => {
        if (log.isBroken) await this.#deps.repair(log.id);
        return withdraw(log, kind, subject, reason);
      }),
    );
    return withdrawn.includes(true);
  }
}

/** The conversation has seen this state of the file, or was notified of it, since the draft was written. */
function isKnownState({ state }: ConversationLog, draft: NotificationDraft): boolean {
  if (printKind(draft.kind) !== 'file.changed') return false;
  const states = fileStatesOf(draft);
  return (
    states.length > 0 &&
    states.every(({ path, hash }) => {
      const seen = state.seen.get(path);
      return seen !== undefined && (seen.announced ?? seen.hash) === hash;
    })
  );
}

/** The number of subscriptions that each listener has to one scope. */
type Listeners = Map<string, number>;

interface Glob {
  readonly matches: (path: string) => boolean;
  readonly listeners: Listeners;
}

/**
 * Indexed by scope and, for globs, by folder and ending, so that the cost of publishing depends on the number of
 * matches, not of subscriptions.
 */
export class SubscriptionIndex {
  readonly #byScope = new Map<string, Listeners>();
  readonly #globs = new Map<string, Map<string, Glob>>();
  readonly #toAll: Listeners = new Map();

  /** Subscribes until the result is disposed of. A listener may have the same subscription several times. */
  subscribe(listener: string, subscription: Subscription): Disposable {
    if ('all' in subscription) return count(this.#toAll, listener, () => undefined);
    const scope = 'mention' in subscription ? scopeOf('mention', subscription.mention) : subscription.scope;
    const glob = nameInScope('glob', scope);
    if (glob !== undefined) return this.#subscribeToGlob(listener, glob);
    const listeners = getOrAdd(this.#byScope, scope, () => new Map<string, number>());
    return count(listeners, listener, () => this.#byScope.delete(scope));
  }

  /** Returns each listener once, even if several of its subscriptions match. */
  listeners(draft: Pick<NotificationDraft, 'scopes'>, { to, sender }: Addressed = {}): ReadonlySet<string> {
    const found = new Set<string>();
    for (const listener of this.#toAll.keys()) found.add(listener);
    for (const scope of draft.scopes ?? []) {
      const listeners = this.#byScope.get(scope);
      if (listeners !== undefined) for (const listener of listeners.keys()) found.add(listener);
      const path = nameInScope('file', scope);
      if (path !== undefined) this.#matchGlobs(path, found);
    }
    if (sender !== undefined) found.delete(sender);
    if (to === undefined) return found;
    return new Set(found.has(to) ? [to] : []);
  }

  #subscribeToGlob(listener: string, glob: string): Disposable {
    const key = printKey(globKeyOf(glob));
    const bucket = getOrAdd(this.#globs, key, () => new Map<string, Glob>());
    const known = getOrAdd(bucket, glob, () => ({ matches: compileGlob(glob), listeners: new Map<string, number>() }));
    return count(known.listeners, listener, () => {
      bucket.delete(glob);
      if (bucket.size === 0) this.#globs.delete(key);
    });
  }

  #matchGlobs(path: string, found: Set<string>): void {
    if (this.#globs.size === 0) return;
    for (const key of keysFor(path)) {
      for (const { matches, listeners } of this.#globs.get(printKey(key))?.values() ?? []) {
        if (matches(path)) for (const listener of listeners.keys()) found.add(listener);
      }
    }
  }
}

/** Joins folder and tail with a line break, which neither contains. */
function printKey({ folder, tail }: { readonly folder: string; readonly tail: string }): string {
  return `${folder}\n${tail}`;
}

function getOrAdd<V>(map: Map<string, V>, key: string, create: () => V): V {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const created = create();
  map.set(key, created);
  return created;
}

/** Adds one subscription; calls `empty` when the last listener is removed. */
function count(listeners: Listeners, listener: string, empty: () => void): Disposable {
  listeners.set(listener, (listeners.get(listener) ?? 0) + 1);
  return toDisposable(() => {
    const left = (listeners.get(listener) ?? 1) - 1;
    if (left > 0) listeners.set(listener, left);
    else listeners.delete(listener);
    if (listeners.size === 0) empty();
  });
}

/** Subscribes to scopes that follow from the log: files seen, handles started, tasks run, globs watched. */
class OwnScopes implements Disposable {
  readonly #log: ConversationLog;
  readonly #subscribe: (scope: string) => Disposable;
  readonly #held = new Map<string, Disposable>();
  #globs: ReadonlySet<string> = new Set();
  #handles: ReadonlySet<string> = new Set();
  #tasks: ReadonlySet<string> = new Set();
  #servers: ReadonlySet<string> = new Set();
  #resources: ReadonlySet<string> = new Set();

  constructor(log: ConversationLog, subscribe: (scope: string) => Disposable) {
    this.#log = log;
    this.#subscribe = subscribe;
    this.refresh();
  }

  /** After a reset the log may have fewer scopes than before. */
  refresh(): void {
    const { seen, watches } = this.#log.state;
    const files = new Set([...seen.paths()].map(fileScope));
    for (const scope of [...this.#held.keys()])
      if (nameInScope('file', scope) !== undefined && !files.has(scope)) this.#remove(scope);
    for (const scope of files) this.#add(scope);
    this.#applyActs(watches);
  }

  /** The cost depends on the event, not on the number of seen files. */
  apply(event: LogEvent): void {
    if ('seen' in event) for (const { path } of event.seen ?? []) this.#add(fileScope(path));
    this.#applyActs(this.#log.state.watches);
  }

  dispose(): void {
    for (const scope of [...this.#held.keys()]) this.#remove(scope);
  }

  #applyActs({ globs, handles, tasks, servers, resources }: ConversationLog['state']['watches']): void {
    this.#globs = this.#exchange(this.#globs, globs, (glob) => scopeOf('glob', glob));
    this.#handles = this.#exchange(this.#handles, handles, handleScope);
    this.#tasks = this.#exchange(this.#tasks, tasks, (task) => scopeOf('task', task));
    this.#servers = this.#exchange(this.#servers, servers, (server) => scopeOf('mcp', server));
    this.#resources = this.#exchange(this.#resources, resources, (name) => scopeOf('resource', name));
  }

  /** A set that changes is replaced by a new object, so usually there is nothing to do. */
  #exchange(
    before: ReadonlySet<string>,
    now: ReadonlySet<string>,
    toScope: (name: string) => string,
  ): ReadonlySet<string> {
    if (before === now) return now;
    for (const one of before) if (!now.has(one)) this.#remove(toScope(one));
    for (const one of now) this.#add(toScope(one));
    return now;
  }

  #add(scope: string): void {
    if (!this.#held.has(scope)) this.#held.set(scope, this.#subscribe(scope));
  }

  #remove(scope: string): void {
    this.#held.get(scope)?.dispose();
    this.#held.delete(scope);
  }
}
