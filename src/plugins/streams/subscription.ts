// One subscription of a plugin, on one conversation or on all of them.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../base/errors.ts';
import { EVERY_CONVERSATION, type HostMessageOf, type RequestOf } from '../../protocol/plugin.ts';
import { type PluginConnection } from '../connection.ts';
import { type LineOwner, Waiting } from '../outbox.ts';
import { type AllConversations } from './allConversations.ts';
import { EventStream } from './eventStream.ts';
import { type Feeds, type UsedFeed } from './feeds.ts';
import { type Pieces } from './pieces.ts';

/** Lines are limited for each subscription, bytes for all subscriptions of a plugin together. */
const MOST_WAITING = { lines: 1000, bytes: Number.POSITIVE_INFINITY };
const MOST_WAITING_OF_ALL = { lines: Number.POSITIVE_INFINITY, bytes: 16 * 1024 * 1024 };

export interface SubscriptionDeps {
  readonly connection: PluginConnection;
  /** Counts the waiting events of all subscriptions of the plugin. */
  readonly waiting: Waiting;
  readonly feeds: Feeds;
  readonly pieces: Pieces;
  readonly all: AllConversations;
  /** Called when the stream of a conversation exists, so that open questions can be offered to it. */
  joined(subscription: Subscription, stream: EventStream): void;
  /** Called when the subscription has ended because of an error. */
  ended(subscription: Subscription): void;
  report(error: unknown): void;
}

type LastSeq = HostMessageOf<'subscribed'>['seq'];

export class Subscription implements Disposable {
  readonly id: string;
  readonly conversation: string;
  /** Whether open requests come with it. */
  readonly asks: boolean;
  readonly #deps: SubscriptionDeps;
  readonly #events: ReadonlySet<string> | undefined;
  readonly #wantsOutput: boolean;
  readonly #held = new DisposableStore();
  readonly #streams = new Map<string, { readonly stream: EventStream; readonly used: UsedFeed }>();
  /** Streams that are being made. */
  readonly #joining = new Set<string>();
  /** For a subscription to all conversations: the number after which each conversation is sent. */
  readonly #known = new Map<string, number>();
  /** Messages that wait for the stream of their conversation. */
  readonly #later = new Map<string, { readonly message: HostMessageOf<'event'>; readonly after: number }[]>();
  readonly #owner: LineOwner;
  /** For a subscription to all conversations: `subscribed` was sent, so streams may begin. */
  #began = false;
  #ended = false;

  constructor(
    request: Pick<RequestOf<'subscribe'>, 'sub_id' | 'conversation' | 'events' | 'output' | 'requests'>,
    deps: SubscriptionDeps,
  ) {
    this.id = request.sub_id;
    this.conversation = request.conversation;
    this.#deps = deps;
    this.#events = request.events && new Set(request.events);
    this.#wantsOutput = request.output === true;
    this.asks = request.requests !== false;
    this.#owner = ownerOf(deps.waiting);
  }

  get isForAll(): boolean {
    return this.conversation === EVERY_CONVERSATION;
  }

  covers(conversation: string): boolean {
    return this.isForAll || this.conversation === conversation;
  }

  /** The stream of a conversation, if it exists already. */
  stream(conversation: string): EventStream | undefined {
    return this.#streams.get(conversation)?.stream;
  }

  get streams(): readonly EventStream[] {
    return [...this.#streams.values()].map(({ stream }) => stream);
  }

  /** Resolves to the numbers of the last events. Sends nothing before `begin` is called. */
  async open(since: RequestOf<'subscribe'>['since']): Promise<Result<{ readonly seq: LastSeq; begin(): void }>> {
    return this.isForAll ? this.#openAll(since) : this.#openOne(since);
  }

  /** Sends a message without a number once the event `after` was sent. */
  announce(conversation: string, message: HostMessageOf<'event'>, after: number): void {
    const stream = this.stream(conversation);
    if (stream !== undefined) return stream.announce(message, after);
    // A subscription that is being made gets it as soon as its stream exists.
    this.#later.set(conversation, [...(this.#later.get(conversation) ?? []), { message, after }]);
    this.ensure(conversation);
  }

  dispose(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#held.dispose();
    for (const { stream, used } of this.#streams.values()) {
      stream.dispose();
      used.dispose();
    }
    this.#streams.clear();
  }

  async #openOne(since: RequestOf<'subscribe'>['since']) {
    if (since !== undefined && typeof since !== 'number') {
      return failed('plugin', 'since: must be a number for one conversation.');
    }
    const used = await this.#deps.feeds.use(this.conversation);
    if (!used.ok) return used;
    // Released with the subscription, which may end before `begin` is called.
    this.#held.add(used.value);
    const { lastSeq } = used.value.feed;
    if (since !== undefined && since > lastSeq) {
      return failed('plugin', `since: the last event is ${lastSeq}, and ${since} is beyond it.`);
    }
    return succeeded({ seq: lastSeq, begin: () => this.#join(used.value, since ?? lastSeq) });
  }

  async #openAll(since: RequestOf<'subscribe'>['since']) {
    if (typeof since === 'number') return failed('plugin', 'since: must be an object by conversation for “*”.');
    // Listens before it reads the ends, so that nothing in between is missed.
    const grown = new Set<string>();
    this.#held.add(
      this.#deps.all.onDidGrow((id) => {
        if (this.#began) this.#ensure(id);
        else grown.add(id);
      }),
    );
    const ends = await this.#deps.all.ends();
    if (!ends.ok) return ends;
    for (const [id, last] of Object.entries(since ?? {})) {
      const end = ends.value.get(id);
      if (end === undefined) return failed('plugin', `since: there is no conversation “${id.slice(0, 100)}”.`);
      if (last > end) return failed('plugin', `since: the last event of ${id} is ${end}, and ${last} is beyond it.`);
    }
    const begin = () => {
      this.#began = true;
      for (const [id, end] of ends.value) this.#known.set(id, since?.[id] ?? end);
      for (const id of this.#later.keys()) this.#ensure(id);
      for (const id of new Set([...Object.keys(since ?? {}), ...grown, ...ends.value.keys()])) {
        if (since?.[id] !== undefined || grown.has(id) || this.#deps.pieces.soFar(id).length > 0) this.#ensure(id);
      }
    };
    return succeeded({ seq: Object.fromEntries(ends.value), begin });
  }

  /** Creates the stream of a conversation unless it exists. It starts after the last event that was known. */
  ensure(conversation: string): void {
    if (this.isForAll) this.#ensure(conversation);
  }

  #ensure(conversation: string): void {
    if (this.#ended || !this.#began || this.#streams.has(conversation) || this.#joining.has(conversation)) return;
    this.#joining.add(conversation);
    const join = async () => {
      const used = await this.#deps.feeds.use(conversation);
      this.#joining.delete(conversation);
      // If the conversation has no events yet, this is tried again when it grows.
      if (used.ok) this.#join(used.value, this.#known.get(conversation) ?? 0);
    };
    void join().catch((error: unknown) => this.#deps.report(error));
  }

  #join(used: UsedFeed, since: number): void {
    if (this.#ended) return used.dispose();
    const { connection, pieces } = this.#deps;
    const { feed } = used;
    const stream = new EventStream(
      {
        subscription: this.id,
        feed,
        pieces,
        wants: (type) => this.#events?.has(type) ?? true,
        wantsOutput: this.#wantsOutput,
        send: (message, key) =>
          connection.send(message, { key, ...(message.seq !== undefined && { owner: this.#owner }) }),
        takesPartials: () => connection.outbox.takesPartials,
        room: () => connection.outbox.room(),
        failed: (reason) => this.#failed(feed.conversation, reason),
      },
      since,
    );
    this.#streams.set(feed.conversation, { stream, used });
    this.#known.set(feed.conversation, since);
    this.#deps.joined(this, stream);
    for (const { message, after } of this.#later.get(feed.conversation) ?? []) stream.announce(message, after);
    this.#later.delete(feed.conversation);
    void stream.start().catch((error: unknown) => this.#deps.report(error));
  }

  #failed(conversation: string, reason: string): void {
    if (!this.isForAll) return this.#end(reason);
    const leave = async () => {
      // If the conversation was deleted, only its stream ends, not the subscription to all conversations.
      if (await this.#deps.feeds.exists(conversation)) {
        this.#end(reason);
        return;
      }
      this.#streams.get(conversation)?.used.dispose();
      this.#streams.delete(conversation);
      this.#known.delete(conversation);
    };
    void leave().catch((error: unknown) => this.#deps.report(error));
  }

  #end(reason: string): void {
    if (this.#ended) return;
    const seq = this.#lastSeq();
    this.dispose();
    this.#deps.connection.send({ type: 'error', request: 'subscribe', message: reason, sub_id: this.id, seq });
    this.#deps.ended(this);
  }

  #lastSeq(): LastSeq {
    const streams = this.streams;
    const [only] = streams;
    if (!this.isForAll) return only?.cursor ?? 0;
    for (const stream of streams) this.#known.set(stream.conversation, stream.cursor);
    return Object.fromEntries(this.#known);
  }
}

/** Counts an event for its subscription and for all subscriptions of the plugin. */
function ownerOf(all: Waiting): LineOwner {
  const own = new Waiting();
  return {
    takes: (length) => own.takes(length, MOST_WAITING) && all.takes(length, MOST_WAITING_OF_ALL),
    add: (length) => {
      own.add(length);
      all.add(length);
    },
    remove: (length) => {
      own.remove(length);
      all.remove(length);
    },
  };
}
