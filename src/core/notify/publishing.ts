// The subscriptions of live conversations: defaults and those that follow from the log. Queues notifications for each
// subscriber.
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { KINDS, SHIPPED_KINDS } from '../../protocol/kinds.ts';
import { type Kind, type NotificationDraft, printKind } from '../../protocol/notification.ts';
import { handleScope, fileScope, nameInScope, scopeOf } from '../../protocol/scopes.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Ids } from '../ports/ports.ts';
import { type Addressed, Dispatcher, type Subscription } from './dispatcher.ts';
import { type Outlet } from './outlet.ts';
import { enqueue, withdraw } from './queue.ts';

/** The scope of a plugin's notification for every live conversation. */
export const PLUGINS_SCOPE = scopeOf('kind', 'plugin');

/** The kinds that every live conversation gets, whatever their scopes. */
const SCOPES_FOR_ALL: readonly string[] = [
  ...SHIPPED_KINDS.filter((kind) => KINDS[kind].audience === 'live').map((kind) => scopeOf('kind', kind)),
  PLUGINS_SCOPE,
];

export interface SubscriptionsDeps {
  readonly ids: Ids;
  /** Resolves once a log that could not be written is writable again; rejects while it is not. */
  repair(conversation: string): Promise<void>;
  /** Whether a kind goes only to conversations that subscribed to its scopes by their own acts. */
  onlyOwn?(kind: string): boolean;
  /** Whether repetitions of a kind are queued too. */
  eachTime?(kind: string): boolean;
}

export class Subscriptions implements Outlet {
  readonly #deps: SubscriptionsDeps;
  readonly #dispatcher = new Dispatcher();
  readonly #logs = new Map<string, ConversationLog>();

  constructor(deps: SubscriptionsDeps) {
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
    return this.#dispatcher.subscribe(conversation, subscription);
  }

  /** The conversations owned by this window for which the draft would be queued. */
  listeners(draft: NotificationDraft, addressed: Addressed): readonly string[] {
    const kind = printKind(draft.kind);
    const scopes = [...(draft.scopes ?? [])];
    if (this.#deps.onlyOwn?.(kind) !== true) scopes.push(scopeOf('kind', kind));
    const found: string[] = [];
    for (const id of this.#dispatcher.listeners({ scopes }, addressed)) {
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
