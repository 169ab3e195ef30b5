// Decides which losses the model has heard of and not yet heard to be made good: only of these must a recovery be told.
import { type LogEvent } from '../../../protocol/event.ts';
import { RECOVERIES } from '../../../protocol/kinds.ts';
import { type Notification, printKind } from '../../../protocol/notification.ts';

const LOSSES: ReadonlySet<string> = new Set(Object.values(RECOVERIES));
const recoveries: ReadonlyMap<string, string> = new Map(Object.entries(RECOVERIES));

/** The loss that a kind makes good. */
export function lossOf(kind: string): string | undefined {
  return recoveries.get(kind);
}

export class Losses {
  readonly #heard = new Set<string>();

  isHeard(loss: string, subject: string): boolean {
    return this.#heard.has(keyOf(loss, subject));
  }

  /** Before the pending ones are cleared: `pending` finds what a carrier carries. */
  fold(event: LogEvent, pending: (id: string) => Notification | undefined): void {
    if (event.type !== 'chat_request' && event.type !== 'tool_call_response') return;
    if (event.notifications === undefined) return;
    const { shown, merged, counted } = event.notifications;
    const carried = [...shown, ...merged, ...counted].flatMap((id) => pending(id) ?? []);
    // Ids rise: the newest word on a subject is the one that stands.
    for (const notification of carried.sort((a, b) => (a.id < b.id ? -1 : 1))) this.#hear(notification);
  }

  #hear({ kind, subject }: Notification): void {
    if (subject === undefined) return;
    const printed = printKind(kind);
    if (LOSSES.has(printed)) this.#heard.add(keyOf(printed, subject));
    const loss = lossOf(printed);
    if (loss !== undefined) this.#heard.delete(keyOf(loss, subject));
  }
}

function keyOf(loss: string, subject: string): string {
  return JSON.stringify([loss, subject]);
}
