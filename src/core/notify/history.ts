// Decides what became of every notification of a log. Read from the events when asked for: nobody holds a million in memory.
import { type LogEvent } from '../../protocol/event.ts';
import { type Notification } from '../../protocol/notification.ts';

const CARRIED_AS = ['shown', 'merged', 'counted', 'filtered'] as const;

export type NotificationState = 'pending' | 'withdrawn' | (typeof CARRIED_AS)[number];

export interface NotificationRecord {
  readonly notification: Notification;
  readonly state: NotificationState;
}

/** Oldest first. */
export function notificationHistory(events: Iterable<LogEvent>): NotificationRecord[] {
  const records = new Map<string, { notification: Notification; state: NotificationState }>();
  const become = (ids: readonly string[], state: NotificationState) => {
    for (const id of ids) {
      const record = records.get(id);
      if (record !== undefined) record.state = state;
    }
  };
  for (const event of events) {
    switch (event.type) {
      case 'notification_queued':
        records.set(event.notification.id, { notification: event.notification, state: 'pending' });
        break;
      case 'notification_withdrawn':
        become(event.ids, 'withdrawn');
        break;
      case 'chat_request':
      case 'tool_call_response':
        for (const state of CARRIED_AS) become(event.notifications?.[state] ?? [], state);
        break;
      default:
    }
  }
  return [...records.values()];
}
