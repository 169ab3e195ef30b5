// Decides which news would only repeat what the model was last told of the same thing.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type Notification, type NotificationDraft, printKind } from '../../../protocol/notification.ts';
import { type KnownTools } from '../../ports/toolTraits.ts';
import { CARRIED_AS } from './history.ts';

type Draft = Pick<NotificationDraft, 'kind' | 'subject' | 'data'>;
type Carrier = EventOf<'chat_request' | 'tool_call_response'>;

/** Of drafts that have a `data.state`: as long as that stays the same there is nothing new to say. */
export class Repeats {
  /** The state that was last shown, by kind and subject. */
  readonly #told = new Map<string, string>();
  /** Observed since the model last did something: only these say how it is after that. */
  readonly #fresh = new Set<string>();
  /** Calls after which what held before may not hold any more, whatever they changed. */
  readonly #acts = new Set<string>();
  readonly #tools: KnownTools | undefined;

  constructor(tools: KnownTools | undefined) {
    this.#tools = tools;
  }

  isKnown(draft: Draft): boolean {
    const state = stateOf(draft);
    return state !== undefined && this.#told.get(keyOf(draft)) === state;
  }

  /** Before the pending ones are cleared: `pending` finds what a carrier carries. */
  fold(event: LogEvent, pending: (id: string) => Notification | undefined): void {
    switch (event.type) {
      case 'notification_queued':
        if (stateOf(event.notification) !== undefined) this.#fresh.add(event.notification.id);
        return;
      case 'notification_withdrawn':
        for (const id of event.ids) this.#fresh.delete(id);
        return;
      case 'tool_call_request':
        if (this.#tools?.traits(event.name)?.invalidatesReports === true) this.#acts.add(event.id);
        return;
      case 'tool_call_response':
        if (this.#acts.delete(event.id) || (event.changes?.length ?? 0) > 0) this.#forget();
        return this.#carried(event, pending);
      case 'chat_request':
        return this.#carried(event, pending);
      // A summary may leave it out.
      case 'compaction':
        return this.#forget();
      default:
        return;
    }
  }

  #forget(): void {
    this.#told.clear();
    this.#fresh.clear();
  }

  #carried({ notifications }: Carrier, pending: (id: string) => Notification | undefined): void {
    if (notifications === undefined) return;
    const find = (ids: readonly string[]) => ids.flatMap((id) => pending(id) ?? []);
    const [shown, merged] = [find(notifications.shown), find(notifications.merged)];
    const keys = new Set(shown.map(keyOf));
    // Where several subjects were told as one, they were listed without their states.
    const listed = new Set(merged.flatMap((one) => (keys.has(keyOf(one)) ? [] : [printKind(one.kind)])));
    for (const notification of [...merged, ...find(notifications.counted)]) this.#told.delete(keyOf(notification));
    for (const notification of shown) {
      const state = listed.has(printKind(notification.kind)) ? undefined : stateOf(notification);
      if (state === undefined || !this.#fresh.has(notification.id)) this.#told.delete(keyOf(notification));
      else this.#told.set(keyOf(notification), state);
    }
    for (const id of CARRIED_AS.flatMap((as) => notifications[as])) this.#fresh.delete(id);
  }
}

function stateOf({ data }: Draft): string | undefined {
  const state = data?.['state'];
  return typeof state === 'string' ? state : undefined;
}

function keyOf({ kind, subject = '' }: Draft): string {
  return JSON.stringify([printKind(kind), subject]);
}
