// Decides what the model was told and is still true: the last carried state of each subject, unless it was good news.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type Notification } from '../../../protocol/notification.ts';
import { fileStatesOf } from '../../files/fileState.ts';

export interface OutstandingProblem {
  readonly notification: Notification;
  /** The carrier that told it. */
  readonly seq: number;
}

type Carrier = EventOf<'chat_request' | 'tool_call_response'>;

export class Outstanding {
  /** By source and subject: a later name of the same source (`resolved` after `introduced`) replaces an earlier one. */
  readonly #facts = new Map<string, OutstandingProblem>();

  /** In the order in which they were first told. */
  get facts(): readonly OutstandingProblem[] {
    return [...this.#facts.values()];
  }

  /** `pending` finds the newest states that a carrier carries before they are cleared; `seenHash` is what was seen before this event. */
  fold(
    event: LogEvent,
    pending: (id: string) => Notification | undefined,
    seenHash: (path: string) => string | undefined,
  ): void {
    if (event.type !== 'chat_request' && event.type !== 'tool_call_response') return;
    const told = new Set<string>();
    for (const notification of newestOf(event, pending)) {
      const key = keyOf(notification);
      told.add(key);
      this.#facts.delete(key);
      if (!isGoodNews(notification, seenHash)) this.#facts.set(key, { notification, seq: event.seq });
    }
    this.#read(event, told);
  }

  /** Reading a file ends what was said of it; the diff that moved `seen` in the same event is no reading. */
  #read(event: Carrier, told: ReadonlySet<string>): void {
    for (const { path } of event.seen ?? []) {
      const key = `file file:${path}`;
      if (!told.has(key)) this.#facts.delete(key);
    }
  }
}

/** What settings filter was not told; what was only listed or counted was. Without a subject it is an event, not a state. */
function newestOf(event: Carrier, pending: (id: string) => Notification | undefined): Iterable<Notification> {
  const newest = new Map<string, Notification>();
  const { shown = [], merged = [], counted = [] } = event.notifications ?? {};
  for (const id of [...shown, ...merged, ...counted]) {
    const notification = pending(id);
    if (notification?.subject === undefined) continue;
    const key = keyOf(notification);
    const before = newest.get(key);
    if (before === undefined || before.id < notification.id) newest.set(key, notification);
  }
  return newest.values();
}

function keyOf({ kind, subject }: Notification): string {
  return `${kind.source} ${subject ?? ''}`;
}

/** An exit code of 0, a resolved error, a server that is back, a file that is again as it was read. */
function isGoodNews(notification: Notification, seenHash: (path: string) => string | undefined): boolean {
  // Problems that are gone are good news only if none is left.
  const left = notification.data?.['left'];
  if (notification.level === 'info') return typeof left !== 'number' || left === 0;
  const states = fileStatesOf(notification);
  return states.length > 0 && states.every(({ path, hash, complete }) => complete && seenHash(path) === hash);
}
