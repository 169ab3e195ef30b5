// The state of one notification, as read from the log.
import { type Notification } from '../../protocol/notification.ts';

export type NotificationState = 'pending' | 'withdrawn' | 'shown' | 'merged' | 'counted' | 'filtered';

/**
 * Carried: it is in a carrier of the log. Accepted: a model call that held that carrier succeeded, or an outside agent
 * has it.
 */
type Receipt = 'queued' | 'carried' | 'accepted';

export interface NotificationRecord {
  readonly notification: Notification;
  readonly state: NotificationState;
  readonly receipt: Receipt;
  /** Why it was withdrawn. */
  readonly reason?: string;
  /** The event that carried it. */
  readonly carrier?: number;
}
