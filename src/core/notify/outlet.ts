// The port between a producer's throttle and the subscriptions: delivers at once whatever it is given.
import { type Kind, type NotificationDraft } from '../../protocol/notification.ts';
import { type Publisher } from '../ports/ports.ts';
import { type Addressed } from './dispatcher.ts';

export interface Outlet extends Publisher {
  /** The conversations that would have it queued. */
  listeners(draft: NotificationDraft, addressed: Addressed): Iterable<string>;
  /** Queues it for this conversation, whatever that has subscribed to. */
  deliver(draft: NotificationDraft, listener: string): Promise<unknown>;
  /** Whether a notification of this kind and subject is pending for this conversation. */
  isPending(kind: Kind, subject: string, listener: string): boolean;
}
