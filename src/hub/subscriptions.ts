// The subscriptions of all sessions, indexed so that the cost of matching a message depends only on its matches; and what
// is pushed of a message that matches.
import { type Pair } from '../protocol/hub.ts';
import { type HubMessage, type MatchType, type MessagePush } from '../protocol/hubMethods.ts';
import { previewOf } from './preview.ts';

export interface HubSubscription {
  readonly id: number;
  readonly session: string;
  /** The session's agent. */
  readonly agent: string;
  readonly scope?: Pair | undefined;
  readonly mentionRole?: string | undefined;
  readonly createdAt: string;
}

export interface Match {
  readonly subscription: HubSubscription;
  readonly type: MatchType;
}

export interface Matched {
  readonly author: string;
  readonly scopes: readonly Pair[];
  readonly refs: readonly Pair[];
}

const SPECIFIC: Readonly<Record<MatchType, number>> = { mention: 2, scope: 1, all: 0 };

export class Subscriptions {
  readonly #byId = new Map<number, HubSubscription>();
  readonly #bySession = new Map<string, Map<string, HubSubscription>>();
  readonly #byScope = new Map<string, Set<HubSubscription>>();
  /** A mention subscription is listed under its own role, its agent's role and its agent's name. */
  readonly #byMention = new Map<string, Set<HubSubscription>>();
  readonly #all = new Set<HubSubscription>();
  readonly #roles = new Map<string, string>();
  #nextId = 1;

  /** Ids increase and are never reused. */
  get nextId(): number {
    return this.#nextId;
  }

  /** Marks all ids below this one as used. */
  skipIds(next: number): void {
    this.#nextId = Math.max(this.#nextId, next);
  }

  get all(): Iterable<HubSubscription> {
    return this.#byId.values();
  }

  /** Sessions with at least one subscription. */
  get sessions(): Iterable<string> {
    return this.#bySession.keys();
  }

  of(session: string): HubSubscription[] {
    return [...(this.#bySession.get(session)?.values() ?? [])].sort((a, b) => a.id - b.id);
  }

  get(id: number): HubSubscription | undefined {
    return this.#byId.get(id);
  }

  /** Whether the session already has the same subscription. */
  has(session: string, subscription: Pick<HubSubscription, 'scope' | 'mentionRole'>): boolean {
    return this.#bySession.get(session)?.has(criteria(subscription)) === true;
  }

  add(subscription: HubSubscription): void {
    this.#nextId = Math.max(this.#nextId, subscription.id + 1);
    this.#byId.set(subscription.id, subscription);
    const own = this.#bySession.get(subscription.session) ?? new Map<string, HubSubscription>();
    this.#bySession.set(subscription.session, own.set(criteria(subscription), subscription));
    this.#addToIndex(subscription);
  }

  remove(id: number): HubSubscription | undefined {
    const subscription = this.#byId.get(id);
    if (subscription === undefined) return undefined;
    this.#byId.delete(id);
    const own = this.#bySession.get(subscription.session);
    own?.delete(criteria(subscription));
    if (own?.size === 0) this.#bySession.delete(subscription.session);
    this.#removeFromIndex(subscription);
    return subscription;
  }

  /** Sets the role that the agent registered with, under which its mention subscriptions match. */
  setRole(agent: string, role: string): void {
    if ((this.#roles.get(agent) ?? '') === role) return;
    const own = [...this.#byId.values()].filter((one) => one.agent === agent && one.mentionRole !== undefined);
    for (const subscription of own) this.#removeFromIndex(subscription);
    this.#roles.set(agent, role);
    for (const subscription of own) this.#addToIndex(subscription);
  }

  /** At most one match for each session: the most specific, then the oldest. Sessions of the author never match. */
  match({ author, scopes, refs }: Matched): Map<string, Match> {
    const found = new Map<string, Match>();
    const take = (subscriptions: Iterable<HubSubscription> | undefined, type: MatchType) => {
      for (const subscription of subscriptions ?? []) {
        if (subscription.agent === author) continue;
        const known = found.get(subscription.session);
        if (known === undefined || isBetter({ subscription, type }, known))
          found.set(subscription.session, { subscription, type });
      }
    };
    for (const { type, value } of refs) if (type === 'mention') take(this.#byMention.get(value), 'mention');
    for (const scope of scopes) take(this.#byScope.get(scopeKey(scope)), 'scope');
    take(this.#all, 'all');
    return found;
  }

  #addToIndex(subscription: HubSubscription): void {
    const { scope, mentionRole } = subscription;
    if (scope !== undefined) addTo(this.#byScope, scopeKey(scope), subscription);
    else if (mentionRole === undefined) this.#all.add(subscription);
    else for (const key of this.#mentionKeys(subscription, mentionRole)) addTo(this.#byMention, key, subscription);
  }

  #removeFromIndex(subscription: HubSubscription): void {
    const { scope, mentionRole } = subscription;
    if (scope !== undefined) removeFrom(this.#byScope, scopeKey(scope), subscription);
    else if (mentionRole === undefined) this.#all.delete(subscription);
    else for (const key of this.#mentionKeys(subscription, mentionRole)) removeFrom(this.#byMention, key, subscription);
  }

  #mentionKeys({ agent }: HubSubscription, mentionRole: string): string[] {
    return [mentionRole, agent, this.#roles.get(agent) ?? ''].filter((key) => key !== '');
  }
}

function isBetter(candidate: Match, known: Match): boolean {
  const rank = SPECIFIC[candidate.type] - SPECIFIC[known.type];
  return rank > 0 || (rank === 0 && candidate.subscription.id < known.subscription.id);
}

function scopeKey({ type, value }: Pair): string {
  return `${type}\0${value}`;
}

function criteria({ scope, mentionRole }: Pick<HubSubscription, 'scope' | 'mentionRole'>): string {
  if (scope !== undefined) return `scope\0${scopeKey(scope)}`;
  return mentionRole === undefined ? 'all' : `mention\0${mentionRole}`;
}

function addTo<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  if (set === undefined) map.set(key, new Set([value]));
  else set.add(value);
}

function removeFrom<T>(map: Map<string, Set<T>>, key: string, value: T): void {
  const set = map.get(key);
  set?.delete(value);
  if (set?.size === 0) map.delete(key);
}

/** The fields of a message that a push contains. */
export type Announced = Pick<
  HubMessage,
  'message_id' | 'thread_id' | 'author' | 'scopes' | 'refs' | 'cursor' | 'created_at' | 'updated_at'
> & { readonly body: Pick<HubMessage['body'], 'content'> };

/** The same for a push and for a message that was listed after a reconnect. */
export function describePush(message: Announced, edited: boolean): Omit<MessagePush, 'matched_subscription'> {
  const { message_id, thread_id, author, body, scopes, cursor, created_at, updated_at } = message;
  return {
    message_id,
    thread_id,
    author,
    preview: previewOf(body.content),
    scopes,
    ...(edited && { edited }),
    cursor,
    timestamp: updated_at ?? created_at,
  };
}
