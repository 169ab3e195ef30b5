// Computes the state of every notification of a log from its events, on demand: there may be too many to keep in
// memory.
import { type LogEvent } from '../../../protocol/event.ts';
import { type NotificationRecord, type NotificationState } from '../../ports/notificationRecord.ts';

/** The lists of a carrier; each notification that it delivers is in one of them. */
export const CARRIED_AS = ['shown', 'merged', 'counted', 'filtered'] as const satisfies readonly NotificationState[];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Oldest first. */
export function notificationHistory(events: Iterable<LogEvent>): NotificationRecord[] {
  const records = new Map<string, Mutable<NotificationRecord>>();
  let unaccepted: Mutable<NotificationRecord>[] = [];
  const setState = (ids: readonly string[], state: NotificationState, carrier?: number) => {
    for (const id of ids) {
      const record = records.get(id);
      if (record === undefined) continue;
      record.state = state;
      if (carrier === undefined) continue;
      record.receipt = 'carried';
      record.carrier = carrier;
      unaccepted.push(record);
    }
  };
  for (const event of events) {
    switch (event.type) {
      case 'notification_queued':
        records.set(event.notification.id, { notification: event.notification, state: 'pending', receipt: 'queued' });
        break;
      case 'notification_withdrawn':
        setState(event.ids, 'withdrawn');
        for (const id of event.ids) Object.assign(records.get(id) ?? {}, { reason: event.reason });
        break;
      case 'chat_request':
      case 'tool_call_response':
        for (const state of CARRIED_AS) setState(event.notifications?.[state] ?? [], state, event.seq);
        break;
      case 'model_call':
        // It contained every carrier before it; a call with a purpose (a title, a summary) contains none.
        if (event.outcome !== 'succeeded' || event.purpose !== undefined) break;
        for (const record of unaccepted) record.receipt = 'accepted';
        unaccepted = [];
        break;
      case 'carriers_accepted': {
        const accepted = new Set(event.carriers);
        const isAccepted = ({ carrier = 0 }: NotificationRecord) => accepted.has(carrier);
        for (const record of unaccepted.filter(isAccepted)) record.receipt = 'accepted';
        unaccepted = unaccepted.filter((record) => !isAccepted(record));
        break;
      }
      default:
    }
  }
  return [...records.values()];
}
