// Decides which news would only repeat what the model was last told of the same thing.
import { type LogEvent } from '../../protocol/event.ts';
import { type Notification, type NotificationDraft, printKind } from '../../protocol/notification.ts';

type Draft = Pick<NotificationDraft, 'kind' | 'subject' | 'data'>;

/** Of drafts that have a `data.state`: as long as that stays the same there is nothing new to say. */
export class Repeats {
  /** The state that was last shown, by kind and subject. */
  readonly #told = new Map<string, string>();

  isKnown(draft: Draft): boolean {
    const state = stateOf(draft);
    return state !== undefined && this.#told.get(keyOf(draft)) === state;
  }

  /** Before the pending ones are cleared: `pending` finds what a carrier carries. */
  fold(event: LogEvent, pending: (id: string) => Notification | undefined): void {
    // A summary may leave it out.
    if (event.type === 'compaction') this.#told.clear();
    if (event.type !== 'chat_request' && event.type !== 'tool_call_response') return;
    // What holds after an edit of its own is news again.
    if (event.type === 'tool_call_response' && (event.changes?.length ?? 0) > 0) this.#told.clear();
    if (event.notifications === undefined) return;
    const { shown, merged, counted } = event.notifications;
    const find = (ids: readonly string[]) => ids.flatMap((id) => pending(id) ?? []);
    for (const notification of [...find(merged), ...find(counted)]) this.#told.delete(keyOf(notification));
    const keys = new Set(find(shown).map(keyOf));
    const listed = new Set(find(merged).flatMap((one) => (keys.has(keyOf(one)) ? [] : [printKind(one.kind)])));
    for (const notification of find(shown)) {
      const state = stateOf(notification);
      // Where several were told as one, their subjects were listed and no state.
      if (state === undefined || listed.has(printKind(notification.kind))) this.#told.delete(keyOf(notification));
      else this.#told.set(keyOf(notification), state);
    }
  }
}

function stateOf({ data }: Draft): string | undefined {
  const state = data?.['state'];
  return typeof state === 'string' ? state : undefined;
}

function keyOf({ kind, subject = '' }: Draft): string {
  return JSON.stringify([printKind(kind), subject]);
}
