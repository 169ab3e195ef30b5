// Matches the scopes of a notification against the subscriptions of the listeners.
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';
import { nameInScope, scopeOf } from '../../protocol/scopes.ts';
import { compileGlob, globKeyOf, keysFor } from '../files/globs.ts';

/**
 * `scope` matches notifications with that scope, such as `file:src/a.ts`; one that begins with `glob:` matches every
 * file whose path matches. `mention` matches the scope `mention:<name>`. `all` matches everything.
 */
export type Subscription = { readonly scope: string } | { readonly mention: string } | { readonly all: true };

/** `to`: the only listener that gets the notification. A sender never gets its own notification. */
export interface Addressed {
  readonly to?: string | undefined;
  readonly sender?: string | undefined;
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
export class Dispatcher {
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
