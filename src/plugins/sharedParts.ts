// The parts that all connected plugins of a window share: ports, feeds of conversations, and open questions.
import { type Disposable, DisposableStore, toDisposable } from '../base/disposable.ts';
import { type PluginPorts } from './pluginPorts.ts';
import { PluginNotifier } from './requests/notifying.ts';
import { Queries } from './requests/queries.ts';
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
  readonly ports: PluginPorts;
  readonly feeds: Feeds;
  readonly pieces: Pieces;
  readonly all: AllConversations;
  readonly questions: Questions;
  readonly queries: Queries;
  readonly #subscribers = new Set<Subscriber>();
  readonly #notifiers = new Map<string, { readonly notifier: PluginNotifier; users: number }>();
  readonly #held = new DisposableStore();

  constructor(ports: PluginPorts) {
    this.ports = ports;
    const report = (error: unknown) => ports.logger.error('a subscription of a plugin failed', error);
    this.feeds = this.#held.add(new Feeds(ports));
    const keyOf = (conversation: string) => ports.earshot.get(conversation)?.log.state.turn.key ?? '';
    this.pieces = this.#held.add(new Pieces({ keyOf, report }));
    this.all = this.#held.add(new AllConversations(ports));
    this.queries = new Queries(ports);
    this.questions = this.#held.add(
      new Questions({
        requests: ports.frontends.requests,
        earshot: ports.earshot,
        clock: ports.clock,
        views: ports.views,
        settings: ports.settings,
        answering: (conversation) => this.#answering(conversation),
        isQueried: (conversation) => this.queries.isRunning(conversation),
        report,
      }),
    );
    this.#held.add(ports.frontends.add(this.pieces));
  }

  /** Adds a subscriber until the result is disposed. */
  join(subscriber: Subscriber): Disposable {
    this.#subscribers.add(subscriber);
    return { dispose: () => this.#subscribers.delete(subscriber) };
  }

  /** The notifier that all connections with this name share, until the result is disposed. */
  notifier(plugin: string): { readonly notifier: PluginNotifier } & Disposable {
    const shared = this.#notifiers.get(plugin) ?? { notifier: new PluginNotifier(this.ports, plugin), users: 0 };
    this.#notifiers.set(plugin, shared);
    shared.users += 1;
    const release = toDisposable(() => {
      shared.users -= 1;
      if (shared.users > 0) return;
      this.#notifiers.delete(plugin);
      shared.notifier.dispose();
    });
    return { notifier: shared.notifier, dispose: () => release.dispose() };
  }

  dispose(): void {
    this.#held.dispose();
  }

  #answering(conversation: string): readonly Subscription[] {
    return [...this.#subscribers]
      .filter((subscriber) => subscriber.mayAnswer())
      .flatMap(({ subscriptions }) => [...subscriptions].filter((one) => one.covers(conversation)));
  }
}
