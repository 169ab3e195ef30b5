// The parts that all connected plugins of a window share: ports, feeds of conversations, and open questions.
import { type Disposable, DisposableStore } from '../base/disposable.ts';
import { type LocalClients } from '../core/client/local/localClient.ts';
import { type LocalPorts } from '../core/client/local/localPorts.ts';
import { AllConversations } from './streams/allConversations.ts';
import { Feeds } from './streams/feeds.ts';
import { Pieces } from './streams/pieces.ts';
import { Questions } from './streams/questions.ts';
import { type Subscription } from './streams/subscription.ts';

/** The part of a plugin's session that the shared parts use. */
export interface Subscriber {
  readonly subscriptions: Iterable<Subscription>;
  mayAnswer(): boolean;
}

export class SharedParts implements Disposable {
  readonly clients: LocalClients;
  readonly feeds: Feeds;
  readonly pieces: Pieces;
  readonly all: AllConversations;
  readonly questions: Questions;
  readonly #subscribers = new Set<Subscriber>();
  /** How many queries run in each conversation. */
  readonly #queries = new Map<string, number>();
  readonly #held = new DisposableStore();

  constructor(clients: LocalClients) {
    this.clients = clients;
    const { ports } = clients;
    const report = (error: unknown) => ports.logger.error('a subscription of a plugin failed', error);
    this.feeds = this.#held.add(new Feeds(ports));
    const keyOf = (conversation: string) => ports.earshot.get(conversation)?.log.state.turn.key ?? '';
    this.pieces = this.#held.add(new Pieces({ keyOf, report }));
    this.all = this.#held.add(new AllConversations(ports));
    this.questions = this.#held.add(
      new Questions({
        requests: ports.frontends.requests,
        earshot: ports.earshot,
        clock: ports.clock,
        views: ports.views,
        settings: ports.settings,
        answering: (conversation) => this.#answering(conversation),
        isQueried: (conversation) => this.#queries.has(conversation),
        report,
      }),
    );
    this.#held.add(ports.frontends.add(this.pieces));
  }

  get ports(): LocalPorts {
    return this.clients.ports;
  }

  /** Adds a subscriber until the result is disposed. */
  join(subscriber: Subscriber): Disposable {
    this.#subscribers.add(subscriber);
    return { dispose: () => this.#subscribers.delete(subscriber) };
  }

  /** Counts a query as running in the conversation until the result is called. */
  enterQuery(conversation: string): () => void {
    this.#queries.set(conversation, (this.#queries.get(conversation) ?? 0) + 1);
    return () => {
      const left = (this.#queries.get(conversation) ?? 1) - 1;
      if (left > 0) this.#queries.set(conversation, left);
      else this.#queries.delete(conversation);
    };
  }

  dispose(): void {
    this.#held.dispose();
  }

  #answering(conversation: string): readonly Subscription[] {
    return [...this.#subscribers]
      .filter((subscriber) => subscriber.mayAnswer())
      .flatMap(({ subscriptions }) => [...subscriptions].filter((one) => one.asks && one.covers(conversation)));
  }
}
