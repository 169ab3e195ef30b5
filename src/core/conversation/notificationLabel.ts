// Labels a notification for people: `File changed · src/menu.ts`.
import { printPath } from '../../base/printPath.ts';
import { kindLabel, MESSAGE_OF_USER } from '../../protocol/kindLabels.ts';
import { type Notification } from '../../protocol/notification.ts';
import { type NotificationLabel } from '../../protocol/page/pendingView.ts';
import { nameOfSubject } from '../../protocol/scopes.ts';

/** Sources whose notifications name their sender in `data.from`. */
const SENT: ReadonlySet<string> = new Set(['message', 'output', 'script']);

export function labelNotification({
  kind,
  subject = '',
  data,
}: Pick<Notification, 'kind' | 'subject' | 'data'>): NotificationLabel {
  const { source, name } = kind;
  // The sender of a message says more than its id, which is for the model. Lines have no subject.
  if (SENT.has(source)) {
    const from = data?.['from'];
    const label = data?.['from_user'] === true ? MESSAGE_OF_USER : kindLabel(kind);
    return { source, name, label, subject: typeof from === 'string' ? printPath(from) : '' };
  }
  // `file:src/a.ts` is shown as `src/a.ts`, since the kind says the rest. A subject that only repeats the kind is not
  // shown.
  const shown = subject === name || subject === source ? '' : printPath(nameOfSubject(subject));
  return { source, name, label: kindLabel(kind), subject: shown };
}
