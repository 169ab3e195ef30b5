// Projects the subscriptions to events of MCP servers: how far each was read, and which events came, so that each is in
// the log once, also if the editor is killed.
import { defined } from '../../../base/json/defined.ts';
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { subscriptionDataSchema } from '../../../protocol/lines/eventSubscriptions.ts';
import { type Notification } from '../../../protocol/notification.ts';
import { type EventSubscription, type EventSubscriptions } from '../../ports/mcp.ts';

/** Ids that are kept for each subscription; servers send an event again only soon after. */
const MOST_IDS = 2000;

export class EventStates implements EventSubscriptions {
  #all: ReadonlyMap<string, EventSubscription> = new Map();
  readonly #ids = new Map<string, Set<string>>();
  readonly #ended = new Set<string>();
  readonly #grants = new Map<string, number>();

  get all(): ReadonlyMap<string, EventSubscription> {
    return this.#all;
  }

  isKnown(name: string, event: string): boolean {
    return this.#ids.get(name)?.has(event) === true;
  }

  wasEnded(setting: string): boolean {
    return this.#ended.has(setting);
  }

  /** Whether an event may still wake the model by a grant of the user, so that the server must be listened to. */
  mayWake(now: number): boolean {
    return [...this.#all.values()].some(({ grant, paused }) => !paused && now <= (this.#grants.get(grant ?? '') ?? 0));
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'wake_granted':
        if (event.source === 'events') this.#grants.set(event.id, Date.parse(event.until));
        return;
      case 'events_subscribed':
        this.#subscribe(event);
        return;
      case 'events_unsubscribed': {
        const { setting } = this.#all.get(event.name) ?? {};
        if (setting !== undefined && event.by !== 'setting') this.#ended.add(setting);
        this.#remove(event.name);
        return;
      }
      case 'events_paused':
        this.#change(event.name, { paused: event.paused });
        return;
      case 'events_cursor':
        this.#change(event.name, { cursor: event.cursor ?? null, at: Date.parse(event.timestamp) });
        return;
      case 'notification_queued':
        if (event.notification.kind.source === 'mcp') this.#foldReport(event.notification, event.timestamp);
        return;
      case 'forked':
        // The original keeps them.
        this.#all = new Map();
        this.#ids.clear();
        this.#ended.clear();
        return;
      default:
        return;
    }
  }

  #subscribe({ name, event_id: id, timestamp, ...event }: EventOf<'events_subscribed'>): void {
    const { server, identity, event: type, arguments: args, mode, cursor = null, grant, setting, settings } = event;
    const more = defined({ arguments: args, grant, setting, settings });
    const state = { paused: false, count: 0, at: Date.parse(timestamp) };
    this.#remove(name);
    this.#set(name, { name, id, server, identity, event: type, mode, cursor, ...state, ...more });
  }

  #foldReport({ kind, data }: Notification, timestamp: string): void {
    const read = data?.['subscription'] === undefined ? undefined : subscriptionDataSchema.safeParse(data);
    if (read?.success !== true) return;
    const { subscription: name, cursor, events, ended } = read.data;
    const known = this.#all.get(name);
    if (known === undefined) return;
    if (ended === true) return this.#remove(name);
    const ids = this.#ids.get(name) ?? new Set();
    this.#ids.set(name, ids);
    for (const { id } of events ?? []) ids.add(id);
    for (const id of ids) {
      if (ids.size <= MOST_IDS) break;
      ids.delete(id);
    }
    // What a server sends without being asked has no id.
    const count = known.count + (events?.length ?? (kind.name === 'event' ? 1 : 0));
    this.#change(name, { count, at: Date.parse(timestamp), ...defined({ cursor }) });
  }

  #change(name: string, change: Partial<EventSubscription>): void {
    const known = this.#all.get(name);
    if (known !== undefined) this.#set(name, { ...known, ...change });
  }

  #set(name: string, subscription: EventSubscription): void {
    this.#all = new Map([...this.#all, [name, subscription]]);
  }

  #remove(name: string): void {
    this.#ids.delete(name);
    this.#all = new Map([...this.#all].filter(([one]) => one !== name));
  }
}
