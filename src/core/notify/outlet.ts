// The port between a producer's throttle and the subscriptions: delivers everything at once.
import { type Kind, type NotificationDraft } from '../../protocol/notification.ts';
import { type Publisher } from '../ports/ports.ts';

/**
 * `scope` matches notifications with that scope, such as `file:src/a.ts`; one that begins with `glob:` matches every
 * file whose path matches. `mention` matches the scope `mention:<name>`. `all` matches everything.
 */
export type Subscription = { readonly scope: string } | { readonly mention: string } | { readonly all: true };

/** `to`: the only listener that gets the notification. A sender never gets its own notification. */
export interface Addressed {
  readonly to?: string | undefined;
  readonly sender?: string | undefined;
}

export interface Outlet extends Publisher {
  /** The conversations for which the draft would be queued. */
  listeners(draft: NotificationDraft, addressed: Addressed): Iterable<string>;
  /** Queues the draft for this conversation, even if it has no matching subscription. */
  deliver(draft: NotificationDraft, listener: string): Promise<unknown>;
  /** Whether a notification of this kind and subject is pending for this conversation. */
  isPending(kind: Kind, subject: string, listener: string): boolean;
}
