// Follows the events of MCP servers that live conversations subscribed to, and subscribes them to those of the user's
// setting. Part of the producer of MCP servers.
import { type Disposable, DisposableStore, toDisposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { describeFailure } from '../../base/errors.ts';
import { type EventSubscription, type McpSource } from '../../core/ports/mcp.ts';
import { type Clock, type Logger, type Publisher } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type SettingsOf } from '../../protocol/lines/eventSubscriptions.ts';
import { type Settings } from '../../protocol/settings.ts';
import { ReportPace } from '../lines/reportPace.ts';
import { FollowedEvents } from './followedEvents.ts';

export interface McpEventsDeps {
  readonly source: Pick<McpSource, 'events'>;
  readonly snapshots: Pick<Snapshots, 'put'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * Whose settings these are. A log may have subscriptions of others: the log of an outside agent is written by windows
   * and `earshot-ears` in turn. They are followed, and end only with the entry that asks for them.
   */
  readonly settingsOf: SettingsOf;
  /** Why the setting's entry cannot be subscribed to; absent: it could. */
  refused?(entry: string, failure: string | undefined): void;
  settings(): Pick<Settings, 'mcp.events'>;
}

/** A subscription of a live conversation, for people. */
export interface SubscriptionRow {
  readonly conversation: string;
  /** Empty while it has none. */
  readonly title: string;
  readonly subscription: EventSubscription;
  readonly problem: string | undefined;
}

type WantedBySetting = Settings['mcp.events'][number];

interface Followed {
  readonly id: string;
  readonly events: FollowedEvents;
  readonly following: Disposable;
}

export class McpEvents implements Disposable {
  readonly #deps: McpEventsDeps;
  readonly #onDidChange: Emitter<void>;
  /** By conversation and name. */
  readonly #followed = new Map<string, Followed>();
  /** What was asked for by the setting and not answered yet, or refused. */
  readonly #asked = new Set<string>();
  #live: LiveConversations | undefined;
  #publisher: Publisher | undefined;
  #pace: ReportPace;

  constructor(deps: McpEventsDeps) {
    this.#deps = deps;
    this.#pace = new ReportPace(deps.clock);
    this.#onDidChange = new Emitter((error) => deps.logger.error('a listener of subscriptions failed', error));
  }

  /** Fires when the rows have changed. */
  get onDidChange(): Emitter<void>['event'] {
    return this.#onDidChange.event;
  }

  /** The subscriptions of live conversations to events of this server. */
  rows(server: string): readonly SubscriptionRow[] {
    const live = this.#live;
    return (live?.ids() ?? []).flatMap((conversation) =>
      [...(live?.events(conversation)?.all.values() ?? [])]
        .filter((subscription) => subscription.server === server)
        .map((subscription) => ({
          conversation,
          title: live?.title(conversation) ?? '',
          subscription,
          problem: this.#followed.get(keyOf(conversation, subscription.name))?.events.problem,
        })),
    );
  }

  async setPaused({ conversation, subscription: { name } }: SubscriptionRow, paused: boolean): Promise<void> {
    await this.#live?.changeEvents(conversation, { type: 'events_paused', name, paused });
  }

  async end({ conversation, subscription: { name } }: SubscriptionRow): Promise<void> {
    await this.#live?.changeEvents(conversation, { type: 'events_unsubscribed', name, by: 'user' });
  }

  /** Events are reported until the result is disposed of. */
  start(publisher: Publisher, live: LiveConversations): Disposable {
    this.#live = live;
    this.#publisher = publisher;
    this.#pace = new ReportPace(this.#deps.clock);
    const held = new DisposableStore();
    held.add(live.onDidChange(() => this.#compare()));
    held.add(this.#deps.source.events.onDidConnect(() => this.refresh()));
    held.add(toDisposable(() => this.#stop()));
    this.#compare();
    return held;
  }

  /** Call it when the setting has changed. */
  refresh(): void {
    this.#asked.clear();
    this.#compare();
  }

  dispose(): void {
    this.#stop();
    this.#onDidChange.dispose();
  }

  #stop(): void {
    for (const key of [...this.#followed.keys()]) this.#unfollow(key);
    this.#live = undefined;
  }

  /** Follows what the logs have now. */
  #compare(): void {
    const live = this.#live;
    if (live === undefined) return;
    const wanted = new Map<string, { readonly conversation: string; readonly subscription: EventSubscription }>();
    for (const conversation of live.ids()) {
      for (const subscription of live.events(conversation)?.all.values() ?? []) {
        const isFollowed = !subscription.paused && subscription.mode !== 'channel';
        if (isFollowed) wanted.set(keyOf(conversation, subscription.name), { conversation, subscription });
      }
      this.#applySetting(live, conversation);
    }
    for (const [key, { id }] of [...this.#followed]) if (wanted.get(key)?.subscription.id !== id) this.#unfollow(key);
    for (const [key, { conversation, subscription }] of wanted) {
      if (!this.#followed.has(key)) this.#follow(key, conversation, subscription);
    }
    this.#onDidChange.fire();
  }

  #follow(key: string, conversation: string, subscription: EventSubscription): void {
    const { clock, snapshots, source } = this.#deps;
    const [live, publisher] = [this.#live, this.#publisher];
    if (live === undefined || publisher === undefined) return;
    const changed = () => this.#onDidChange.fire();
    const deps = { clock, snapshots, publisher, live, pace: this.#pace, changed };
    const events = new FollowedEvents(deps, conversation, subscription);
    this.#followed.set(key, { id: subscription.id, events, following: source.events.follow(subscription, events) });
  }

  #unfollow(key: string): void {
    const followed = this.#followed.get(key);
    this.#followed.delete(key);
    followed?.events.dispose();
    followed?.following.dispose();
  }

  #applySetting(live: LiveConversations, conversation: string): void {
    const states = live.events(conversation);
    if (states === undefined || live.subagent?.(conversation) !== undefined) return;
    const entries = new Map(this.#deps.settings()['mcp.events'].map((entry) => [settingKey(entry), entry]));
    const known = new Set([...states.all.values()].map(({ setting }) => setting));
    const { settingsOf } = this.#deps;
    for (const { name, setting, settings = settingsOf } of states.all.values()) {
      const isGone = setting !== undefined && settings === settingsOf && !entries.has(setting);
      if (!isGone || this.#asked.has(keyOf(conversation, name))) continue;
      this.#asked.add(keyOf(conversation, name));
      void live.changeEvents(conversation, { type: 'events_unsubscribed', name, by: 'setting' }).catch(this.#report);
    }
    for (const [setting, entry] of entries) {
      const asked = keyOf(conversation, setting);
      const isMeant = entry.conversations !== 'new' || live.title(conversation) === '';
      if (known.has(setting) || states.wasEnded(setting) || this.#asked.has(asked) || !isMeant) continue;
      this.#asked.add(asked);
      void this.#subscribe(live, conversation, setting, entry).catch(this.#report);
    }
  }

  async #subscribe(
    live: LiveConversations,
    conversation: string,
    setting: string,
    { server, event, arguments: args, wake }: WantedBySetting,
  ): Promise<void> {
    const { source, settingsOf: settings, refused } = this.#deps;
    const opened = await source.events.open({ server, event, arguments: args });
    if (opened.ok) refused?.(`${server}/${event}`, undefined);
    if (opened.ok) await live.subscribeEvents(conversation, { ...opened.value, setting, settings }, wake === true);
    else if (opened.failure.code !== 'no_server') {
      const failure = describeFailure(opened.failure);
      refused?.(`${server}/${event}`, failure);
      this.#deps.logger.warn(`earshot.mcp.events: ${failure}`);
    }
  }

  readonly #report = (error: unknown) => this.#deps.logger.error('a conversation could not be subscribed', error);
}

/** An entry that asks for something else is another one. */
function settingKey({ server, event, arguments: args, wake }: WantedBySetting): string {
  return JSON.stringify([server, event, args ?? null, wake === true]);
}

/** Neither part has a line break, except in the setting, which is last. */
function keyOf(conversation: string, name: string): string {
  return `${conversation}\n${name}`;
}
