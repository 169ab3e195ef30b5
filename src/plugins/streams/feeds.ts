// The feeds of subscribed conversations: one for each conversation, shared by all subscriptions.
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { type Result, succeeded } from '../../base/errors.ts';
import { Feed, type FeedDeps } from './feed.ts';

interface Shared {
  readonly feed: Feed;
  readonly started: Promise<Result<void>>;
  users: number;
}

export interface UsedFeed extends Disposable {
  readonly feed: Feed;
}

export class Feeds implements Disposable {
  readonly #deps: FeedDeps;
  readonly #shared = new Map<string, Shared>();

  constructor(deps: FeedDeps) {
    this.#deps = deps;
  }

  /** Uses a feed until the result is disposed. Fails if there is no such conversation. */
  async use(conversation: string): Promise<Result<UsedFeed>> {
    const shared = this.#shared.get(conversation) ?? this.#begin(conversation);
    shared.users += 1;
    const release = toDisposable(() => this.#release(conversation, shared));
    const started = await shared.started;
    if (!started.ok) {
      release.dispose();
      return started;
    }
    return succeeded({ feed: shared.feed, dispose: () => release.dispose() });
  }

  /** Whether the conversation is still there. */
  async exists(conversation: string): Promise<boolean> {
    return (await this.#deps.store.end(conversation)).ok;
  }

  dispose(): void {
    for (const { feed } of this.#shared.values()) feed.dispose();
    this.#shared.clear();
  }

  #begin(conversation: string): Shared {
    const feed = new Feed(conversation, this.#deps);
    const shared: Shared = { feed, started: feed.start(), users: 0 };
    this.#shared.set(conversation, shared);
    return shared;
  }

  #release(conversation: string, shared: Shared): void {
    shared.users -= 1;
    if (shared.users > 0) return;
    shared.feed.dispose();
    if (this.#shared.get(conversation) === shared) this.#shared.delete(conversation);
  }
}
