// Decides what became of every notification of a log. Read from the events when asked for: nobody holds a million in memory.

import { type LogEvent } from '../../../protocol/event.ts';
import { type NotificationRecord, type NotificationState } from '../../ports/notificationRecord.ts';

/** Everything that a carrier carries is in one of these lists of it. */
export const CARRIED_AS = ['shown', 'merged', 'counted', 'filtered'] as const satisfies readonly NotificationState[];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Oldest first. */
export function notificationHistory(events: Iterable<LogEvent>): NotificationRecord[] {
  const records = new Map<string, Mutable<NotificationRecord>>();
  let unaccepted: Mutable<NotificationRecord>[] = [];
  const become = (ids: readonly string[], state: NotificationState, carrier?: number) => {
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
        become(event.ids, 'withdrawn');
        break;
      case 'chat_request':
      case 'tool_call_response':
        for (const state of CARRIED_AS) become(event.notifications?.[state] ?? [], state, event.seq);
        break;
      case 'model_call':
        // It held every carrier before it; a call beside the turn held none.
        if (event.outcome !== 'succeeded' || event.purpose !== undefined) break;
        for (const record of unaccepted) record.receipt = 'accepted';
        unaccepted = [];
        break;
      default:
    }
  }
  return [...records.values()];
}
