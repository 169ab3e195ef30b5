// Says in words what a notification is about: `File changed · src/menu.ts`.
import { printPath } from '../../base/printPath.ts';
import { kindLabel } from '../../protocol/kindLabels.ts';
import { type Notification } from '../../protocol/notification.ts';
import { type NotificationLabel } from '../../protocol/page/pendingView.ts';
import { nameOfSubject } from '../../protocol/scopes.ts';

export function labelNotification({ kind, subject = '' }: Pick<Notification, 'kind' | 'subject'>): NotificationLabel {
  const { source, name } = kind;
  // `file:src/a.ts` is shown as `src/a.ts`: the kind says the rest. Of what there is one only, the name says it all.
  const shown = subject === name ? '' : printPath(nameOfSubject(subject));
  return { source, name, label: kindLabel(kind), subject: shown };
}
