// Tracks reported failures whose recovery has not been reported: only these need a recovery notification.
import { type LogEvent } from '../../../protocol/event.ts';
import { RECOVERIES } from '../../../protocol/kinds.ts';
import { type Notification, printKind } from '../../../protocol/notification.ts';

const FAILURES: ReadonlySet<string> = new Set(Object.values(RECOVERIES));
const recoveries: ReadonlyMap<string, string> = new Map(Object.entries(RECOVERIES));

/** The kind of failure that a kind of recovery ends. */
export function failureEndedBy(kind: string): string | undefined {
  return recoveries.get(kind);
}

export class ReportedFailures {
  readonly #keys = new Set<string>();

  has(failure: string, subject: string): boolean {
    return this.#keys.has(failureKey(failure, subject));
  }

  /** Must run before `Pending.fold`, so that `pending` still finds the notifications of a carrier. */
  fold(event: LogEvent, pending: (id: string) => Notification | undefined): void {
    if (event.type !== 'chat_request' && event.type !== 'tool_call_response') return;
    if (event.notifications === undefined) return;
    const { shown, merged, counted } = event.notifications;
    const carried = [...shown, ...merged, ...counted].flatMap((id) => pending(id) ?? []);
    // Ids increase: the newest notification of a subject decides.
    for (const notification of carried.sort((a, b) => (a.id < b.id ? -1 : 1))) this.#record(notification);
  }

  #record({ kind, subject }: Notification): void {
    if (subject === undefined) return;
    const printed = printKind(kind);
    if (FAILURES.has(printed)) this.#keys.add(failureKey(printed, subject));
    const ended = failureEndedBy(printed);
    if (ended !== undefined) this.#keys.delete(failureKey(ended, subject));
  }
}

function failureKey(failure: string, subject: string): string {
  return JSON.stringify([failure, subject]);
}
