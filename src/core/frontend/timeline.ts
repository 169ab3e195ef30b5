// The timeline of a conversation: what the user did, what the agent did and what happened outside, and which request carried
// each notification.
import { defined } from '../../base/json/defined.ts';
import { type Carried, type LogEvent } from '../../protocol/event.ts';
import { type Notification } from '../../protocol/notification.ts';
import { type TimelineItem, type TimelineType } from '../../protocol/page/overviewView.ts';
import { labelNotification } from '../conversation/notificationLabel.ts';

const LONGEST_TEXT = 120;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Item = Mutable<TimelineItem> & {
  /** The event that changed it last. */
  changed: number;
};
type Draft = Omit<TimelineItem, 'id'>;

/** Kinds whose source says what they are; all others are changes. */
const TYPES: Readonly<Record<string, TimelineType>> = {
  ...{
    task: 'build',
    terminal: 'build',
    tool: 'build',
    output: 'build',
    test: 'build',
    ci: 'build',
    devserver: 'build',
  },
  ...{ diagnostics: 'problem', debug: 'problem', notebook: 'problem', security: 'problem' },
  ...{ mcp: 'server', port: 'server', budget: 'server', config: 'server' },
  ...{ message: 'agent', review: 'agent', pr: 'agent', script: 'agent', hook: 'agent' },
};

export class Timeline {
  readonly #items: Item[] = [];
  /** By id: notifications that were not delivered yet. */
  readonly #pending = new Map<string, Item>();
  /** Delivered to a carrier that no request has contained yet. */
  #carried: Item[] = [];
  /** Running calls by their id. */
  readonly #calls = new Map<string, Item>();
  /** When the request was sent whose answer comes next. */
  #began: number | undefined;
  /** The first item of that answer. */
  #answer: string | undefined;
  /** The last event. */
  #seq = 0;

  fold(event: LogEvent): void {
    const at = Date.parse(event.timestamp);
    const { seq } = event;
    const add = (draft: Draft) => this.#add(seq, draft);
    const asUser = { lane: 'you', at, item: event.event_id } as const;
    switch (event.type) {
      case 'chat_request':
        if (event.source === 'user') add({ ...asUser, type: 'message', text: shorten(event.typed ?? event.content) });
        this.#carry(seq, event.event_id, event.notifications);
        this.#began = at;
        break;
      case 'user_text_queued':
        // Shown where it was delivered.
        add({ lane: 'you', type: 'message', at, text: shorten(event.typed ?? event.content) });
        break;
      case 'approval':
        if (event.by === 'user') add({ ...asUser, type: 'decision', text: event.action, item: event.tool_call_id });
        break;
      case 'inquiry_response':
        if (event.by === 'user') add({ ...asUser, type: 'decision', text: 'answer' });
        break;
      case 'changes_reviewed':
        add({ ...asUser, type: 'decision', text: event.action });
        break;
      case 'notification_queued':
        this.#pending.set(event.notification.id, add(describe(event.notification)));
        break;
      case 'notification_withdrawn':
        for (const id of event.ids) this.#settle(seq, id, 'withdrawn');
        break;
      case 'chat_response':
        this.#answer ??= event.event_id;
        break;
      case 'model_call':
        if (event.purpose === undefined) this.#request(event, at);
        break;
      case 'tool_call_request':
        this.#answer ??= event.id;
        this.#calls.set(event.id, add({ lane: 'agent', type: 'call', at, text: event.name, item: event.id }));
        break;
      case 'tool_call_response': {
        const call = this.#calls.get(event.id);
        if (call !== undefined)
          this.#change(seq, call, { until: at, ...(event.is_error && { failed: true as const }) });
        this.#calls.delete(event.id);
        this.#carry(seq, event.id, event.notifications);
        this.#began = at;
        break;
      }
      default:
    }
    this.#seq = seq;
  }

  /** About so many items that are new or have changed after this event; those of one event are never divided. */
  changedAfter(
    seq: number,
    most: number,
  ): { readonly through: number; readonly more: boolean; readonly data: readonly TimelineItem[] } {
    const all = this.#items.filter(({ changed }) => changed > seq).sort((one, other) => one.changed - other.changed);
    const last = all[most - 1]?.changed;
    const part = last === undefined ? all : all.filter(({ changed }) => changed <= last);
    return {
      through: last ?? this.#seq,
      more: part.length < all.length,
      data: part.map(({ changed: _, ...item }) => item),
    };
  }

  #add(seq: number, draft: Draft): Item {
    const item = { ...draft, id: this.#items.length, changed: seq };
    this.#items.push(item);
    return item;
  }

  #change(seq: number, item: Item, changes: Partial<Item>): void {
    Object.assign(item, changes, { changed: seq });
  }

  #carry(seq: number, item: string, carried: Carried | undefined): void {
    if (carried === undefined) return;
    const { shown, merged, counted, filtered } = carried;
    for (const id of [...shown, ...merged, ...counted]) {
      const delivered = this.#settle(seq, id, 'delivered');
      if (delivered === undefined) continue;
      delivered.item = item;
      this.#carried.push(delivered);
    }
    for (const id of filtered) this.#settle(seq, id, 'filtered');
  }

  #settle(seq: number, id: string, state: TimelineItem['state']): Item | undefined {
    const item = this.#pending.get(id);
    if (item === undefined) return undefined;
    this.#pending.delete(id);
    this.#change(seq, item, { state });
    return item;
  }

  #request({ seq, outcome, model }: Extract<LogEvent, { type: 'model_call' }>, until: number): void {
    const at = Math.min(this.#began ?? until, until);
    const ended = { ...defined({ item: this.#answer }), ...(outcome !== 'succeeded' && { failed: true as const }) };
    const cycle = this.#add(seq, { lane: 'agent', type: 'cycle', at, until, text: model, ...ended });
    this.#began = until;
    this.#answer = undefined;
    // One that failed is sent again with the same notifications.
    if (outcome !== 'succeeded') return;
    for (const one of this.#carried) this.#change(seq, one, { carrier: cycle.id });
    this.#carried = [];
  }
}

function describe(notification: Notification): Draft {
  const { kind, level, origin } = notification;
  const isOfUser = origin === 'editor' && (kind.source === 'file' || kind.source === 'editor');
  const { label, subject } = labelNotification(notification);
  const type = isOfUser ? 'edit' : (TYPES[kind.source] ?? 'change');
  const at = Date.parse(notification.at);
  return { lane: isOfUser ? 'you' : 'outside', type, at, text: shorten(subject), label, level, state: 'pending' };
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT - 1)}…` : line;
}
