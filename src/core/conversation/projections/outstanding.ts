// Projects reported states that still hold: the last delivered one of each subject, unless it was a resolution.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type Notification } from '../../../protocol/notification.ts';
import { fileStatesOf } from '../../files/fileState.ts';

export interface OutstandingProblem {
  readonly notification: Notification;
  /** The carrier that delivered it. */
  readonly seq: number;
}

type Carrier = EventOf<'chat_request' | 'tool_call_response'>;

export class Outstanding {
  /**
   * By source and subject: a later notification of the same source (`resolved` after `introduced`) replaces an earlier
   * one.
   */
  readonly #facts = new Map<string, OutstandingProblem>();

  /** In the order in which they were delivered. */
  get facts(): readonly OutstandingProblem[] {
    return [...this.#facts.values()];
  }

  /**
   * Must run before `Pending.fold` and `Seen.fold`: `pending` must still find a carrier's notifications, and `seenHash`
   * the state before it.
   */
  fold(
    event: LogEvent,
    pending: (id: string) => Notification | undefined,
    seenHash: (path: string) => string | undefined,
  ): void {
    if (event.type !== 'chat_request' && event.type !== 'tool_call_response') return;
    const delivered = new Set<string>();
    for (const notification of newestCarried(event, pending)) {
      const key = sourceSubjectKey(notification);
      delivered.add(key);
      this.#facts.delete(key);
      if (!isResolved(notification, seenHash)) this.#facts.set(key, { notification, seq: event.seq });
    }
    this.#read(event, delivered);
  }

  /**
   * Reading a file removes the facts reported about it. A diff delivered in the same event does not count as reading.
   */
  #read(event: Carrier, delivered: ReadonlySet<string>): void {
    for (const { path } of event.seen ?? []) {
      const key = `file file:${path}`;
      if (!delivered.has(key)) this.#facts.delete(key);
    }
  }
}

/**
 * Merged and counted notifications were delivered, filtered ones were not. One without a subject is an event, not a
 * state.
 */
function newestCarried(event: Carrier, pending: (id: string) => Notification | undefined): Iterable<Notification> {
  const newest = new Map<string, Notification>();
  const { shown = [], merged = [], counted = [] } = event.notifications ?? {};
  for (const id of [...shown, ...merged, ...counted]) {
    const notification = pending(id);
    if (notification?.subject === undefined) continue;
    const key = sourceSubjectKey(notification);
    const before = newest.get(key);
    if (before === undefined || before.id < notification.id) newest.set(key, notification);
  }
  return newest.values();
}

function sourceSubjectKey({ kind, subject }: Notification): string {
  return `${kind.source} ${subject ?? ''}`;
}

/** An exit code of 0, a resolved error, a server that runs again, a file that is as it was read. */
function isResolved(notification: Notification, seenHash: (path: string) => string | undefined): boolean {
  // A notification of resolved problems is a resolution only if none is left.
  const left = notification.data?.['left'];
  if (notification.level === 'info') return typeof left !== 'number' || left === 0;
  const states = fileStatesOf(notification);
  return states.length > 0 && states.every(({ path, hash, complete }) => complete && seenHash(path) === hash);
}
