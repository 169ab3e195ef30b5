// The port between a producer's throttle and the subscriptions: delivers everything at once.
import { type Kind, type NotificationDraft } from '../../protocol/notification.ts';
import { type Publisher } from '../ports/ports.ts';
import { type Addressed } from './dispatcher.ts';

export interface Outlet extends Publisher {
  /** The conversations for which the draft would be queued. */
  listeners(draft: NotificationDraft, addressed: Addressed): Iterable<string>;
  /** Queues the draft for this conversation, even if it has no matching subscription. */
  deliver(draft: NotificationDraft, listener: string): Promise<unknown>;
  /** Whether a notification of this kind and subject is pending for this conversation. */
  isPending(kind: Kind, subject: string, listener: string): boolean;
}
