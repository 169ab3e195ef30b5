// Decides who hears what is published: matches a notification's scopes against the listeners' subscriptions.
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';

/** `scope` hears what has that scope, such as `file:src/a.ts`; `all` hears everything. */
export type Subscription = { readonly scope: string } | { readonly all: true };

/** Indexed by scope: publishing costs what it matches, not how many subscriptions there are. */
export class Dispatcher {
  readonly #byScope = new Map<string, Map<string, number>>();
  readonly #toAll = new Map<string, number>();

  subscribe(listener: string, subscription: Subscription): Disposable {
    const index = 'all' in subscription ? this.#toAll : this.#scoped(subscription.scope);
    index.set(listener, (index.get(listener) ?? 0) + 1);
    return toDisposable(() => {
      const left = (index.get(listener) ?? 1) - 1;
      if (left > 0) index.set(listener, left);
      else index.delete(listener);
      if ('scope' in subscription && index.size === 0) this.#byScope.delete(subscription.scope);
    });
  }

  /** Each listener once, however many of its subscriptions match. */
  listeners(draft: Pick<NotificationDraft, 'scopes'>): ReadonlySet<string> {
    const found = new Set(this.#toAll.keys());
    for (const scope of draft.scopes ?? []) {
      for (const listener of this.#byScope.get(scope)?.keys() ?? []) found.add(listener);
    }
    return found;
  }

  #scoped(scope: string): Map<string, number> {
    const existing = this.#byScope.get(scope);
    if (existing !== undefined) return existing;
    const created = new Map<string, number>();
    this.#byScope.set(scope, created);
    return created;
  }
}
