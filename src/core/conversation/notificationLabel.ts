// Labels a notification for people: `File changed · src/menu.ts`.
import { printPath } from '../../base/printPath.ts';
import { kindLabel } from '../../protocol/kindLabels.ts';
import { type Notification } from '../../protocol/notification.ts';
import { type NotificationLabel } from '../../protocol/page/pendingView.ts';
import { nameOfSubject } from '../../protocol/scopes.ts';

export function labelNotification({
  kind,
  subject = '',
  data,
}: Pick<Notification, 'kind' | 'subject' | 'data'>): NotificationLabel {
  const { source, name } = kind;
  // For a message of another agent, the sender says more than the message's id.
  const from = data?.['from'];
  if (source === 'message' && typeof from === 'string') {
    return { source, name, label: kindLabel(kind), subject: `from ${printPath(from)}` };
  }
  // `file:src/a.ts` is shown as `src/a.ts`, since the kind says the rest. A subject that only repeats the kind is not
  // shown.
  const shown = subject === name || subject === source ? '' : printPath(nameOfSubject(subject));
  return { source, name, label: kindLabel(kind), subject: shown };
}
