// Reports the events of one subscription. An event and the position after it are one line of the log, so that each is
// reported once across a kill.
import { pause } from '../../base/async.ts';
import {
  type EventSink,
  type EventSubscription,
  type ReceivedEvent,
  type ReceivedEvents,
} from '../../core/ports/mcp.ts';
import { type Clock, type Publisher } from '../../core/ports/ports.ts';
import { type LiveConversations } from '../../core/ports/producers.ts';
import { type Snapshots } from '../../core/ports/storage.ts';
import { type NotificationDraft } from '../../protocol/notification.ts';
import { type ReportPace } from '../lines/reportPace.ts';
import { describeEnded, describeEvents, describeMissed, draftOf } from './eventReports.ts';

const MINUTE = 60_000;
/** How often a position that was reached without an event is stored. */
const STORED_EVERY = 5 * MINUTE;
/** Older events do not wake the model. */
const WAKES_WITHIN = 60 * MINUTE;
/** The clocks of servers differ. */
const SLACK = MINUTE;
const MOST_BYTES = 1024 * 1024;

export interface FollowedEventsDeps {
  readonly clock: Clock;
  readonly snapshots: Pick<Snapshots, 'put'>;
  readonly publisher: Publisher;
  readonly live: LiveConversations;
  readonly pace: ReportPace;
  /** Fires the view. */
  changed(): void;
}

export class FollowedEvents implements EventSink {
  readonly #deps: FollowedEventsDeps;
  readonly #conversation: string;
  readonly #name: string;
  readonly #id: string;
  readonly #over = new AbortController();
  /** A position that is not in the log yet. */
  #reached: { readonly cursor: string | null } | undefined;
  #stored: number;
  /** The connection whose late events have woken the model. */
  #wokenFor: number | undefined;
  #problem: string | undefined;

  constructor(deps: FollowedEventsDeps, conversation: string, { name, id }: EventSubscription) {
    this.#deps = deps;
    this.#conversation = conversation;
    this.#name = name;
    this.#id = id;
    this.#stored = deps.clock.monotonic();
  }

  /** Why nothing comes at the moment, for people. */
  get problem(): string | undefined {
    return this.#problem;
  }

  cursor(): string | null {
    return this.#reached === undefined ? (this.#found()?.cursor ?? null) : this.#reached.cursor;
  }

  async accept({ events, cursor, missed, connected }: ReceivedEvents): Promise<void> {
    const subscription = this.#subscription();
    const position = cursor === undefined ? {} : { cursor };
    const fresh = this.#fresh(events);
    if (missed !== undefined) {
      const text = describeMissed(subscription, missed, subscription.at);
      await this.#publish('events_missed', text, fresh.length === 0 ? position : {});
    }
    if (fresh.length > 0) {
      await this.#report(fresh, position, connected);
    } else if (cursor !== undefined && missed === undefined) {
      this.#reached = { cursor };
      await this.#storePosition(cursor);
      return;
    }
    if (cursor !== undefined) this.#reached = undefined;
  }

  async ended(reason: string): Promise<void> {
    const subscription = this.#found();
    if (subscription === undefined) return;
    const { grant } = subscription;
    const wakes = grant === undefined ? {} : { wake: true as const, grant };
    await this.#publish('events_ended', describeEnded(subscription, reason), { ended: true }, wakes);
  }

  state(problem: string | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#deps.changed();
  }

  dispose(): void {
    this.#over.abort();
  }

  /** Those that the log does not have yet, each once. */
  #fresh(events: readonly ReceivedEvent[]): readonly ReceivedEvent[] {
    const known = this.#deps.live.events(this.#conversation);
    const ids = new Set<string>();
    return events.filter(({ id }) => {
      const isFresh = !ids.has(id) && known?.isKnown(this.#name, id) === false;
      ids.add(id);
      return isFresh;
    });
  }

  async #report(
    fresh: readonly ReceivedEvent[],
    position: { cursor?: string | null },
    connected: number,
  ): Promise<void> {
    const { pace, clock, live } = this.#deps;
    const events = await Promise.all(fresh.map((event) => this.#store(event)));
    const wait = pace.take();
    if (wait > 0) await pause(clock, wait, this.#over.signal);
    const subscription = this.#subscription();
    const wakes = this.#wakes(fresh, subscription, connected);
    const isOver = subscription.grant !== undefined && !live.mayWake(this.#conversation, subscription.grant);
    const text = describeEvents(subscription, fresh, isOver);
    await this.#publish('event', text, { ...position, events }, wakes);
    const isStored = live.events(this.#conversation)?.isKnown(this.#name, fresh.at(-1)?.id ?? '') === true;
    if (!isStored) throw new Error('the conversation could not be notified');
  }

  /** The payload is on disk before an event names it: the server does not deliver it again. */
  async #store({ id, data }: ReceivedEvent): Promise<{ id: string; hash?: string }> {
    const bytes = Buffer.from(JSON.stringify(data), 'utf8');
    return bytes.length > MOST_BYTES ? { id } : { id, hash: await this.#deps.snapshots.put(bytes) };
  }

  /** Events that come late wake the model once for each connection, and not at all if they are old. */
  #wakes(
    fresh: readonly ReceivedEvent[],
    { grant }: EventSubscription,
    connected: number,
  ): Pick<NotificationDraft, 'wake' | 'grant'> {
    if (grant === undefined) return {};
    const now = this.#deps.clock.now();
    const times = fresh.map(({ at }) => Date.parse(at)).map((at) => (Number.isNaN(at) ? now : at));
    if (times.every((at) => now - at > WAKES_WITHIN)) return {};
    if (times.every((at) => at < connected - SLACK)) {
      if (this.#wokenFor === connected) return {};
      this.#wokenFor = connected;
    }
    return { wake: true, grant };
  }

  async #storePosition(cursor: string | null): Promise<void> {
    const { clock, live } = this.#deps;
    if (clock.monotonic() - this.#stored < STORED_EVERY || cursor === this.#subscription().cursor) return;
    this.#stored = clock.monotonic();
    await live.changeEvents(this.#conversation, {
      type: 'events_cursor',
      name: this.#name,
      ...(cursor !== null && { cursor }),
    });
  }

  async #publish(
    kind: 'event' | 'events_missed' | 'events_ended',
    message: string,
    data: object,
    wakes: Pick<NotificationDraft, 'wake' | 'grant'> = {},
  ): Promise<void> {
    const { clock, publisher } = this.#deps;
    const at = new Date(clock.now()).toISOString();
    const reported = { conversation: this.#conversation, subscription: this.#subscription(), at };
    await publisher.publish({ ...draftOf(reported, kind, message, data), ...wakes }, this.#conversation);
  }

  /** As the log has it now. Undefined: it was ended, or the conversation was released. */
  #found(): EventSubscription | undefined {
    const found = this.#deps.live.events(this.#conversation)?.all.get(this.#name);
    return found?.id === this.#id && !this.#over.signal.aborted ? found : undefined;
  }

  /** Throws if it is over: nothing may be stored then. */
  #subscription(): EventSubscription {
    const found = this.#found();
    if (found === undefined) throw new Error('the subscription is over');
    return found;
  }
}
