// The pending notifications as the next block would deliver them, for the chat.
import { wholeCharacters } from '../../base/text.ts';
import { type Notification } from '../../protocol/notification.ts';
import { type PendingEntry } from '../../protocol/page/pendingView.ts';
import { nameInScope } from '../../protocol/scopes.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { labelNotification } from '../conversation/notificationLabel.ts';
import { estimateTokens } from '../conversation/tokens.ts';
import { type Entry } from '../notify/outline.ts';
import { planNotifications } from '../notify/plan.ts';

/** The limits of entries and characters for the page; the Notifications view shows everything. */
const MOST_ENTRIES = 30;
const LONGEST_MESSAGE = 1000;
/** The tokens of the element around a message. */
export const FRAME_TOKENS = 25;

/** Most severe first. Entries beyond the cap, which the block only counts, are listed here. */
export function viewPending(
  { state }: Pick<ConversationLog, 'state'>,
  settings: Settings,
  contextWindow: number,
): PendingEntry[] {
  const { entries } = planNotifications({
    pending: state.pending.notifications,
    settings: { ...settings, 'notifications.cap': MOST_ENTRIES },
    contextWindow,
    measure: () => 0,
  });
  const data = new Map(state.pending.notifications.map((one) => [one.id, one.data]));
  return entries.map((entry) => viewEntry(entry, data.get(entry.id)));
}

function viewEntry(entry: Entry, data: Notification['data']): PendingEntry {
  const { source, name, level, origin, at, count, message, subjects = [] } = entry;
  const subject = subjects[0] ?? entry.subject;
  const path = nameInScope('file', subject);
  // Only lists of several subjects have a shorter form.
  const isList = entry.shorter !== undefined && count > 1;
  return {
    ...labelNotification({ kind: { source, name }, subject, data }),
    ids: [entry.id, ...entry.merged],
    more: isList ? count - 1 : 0,
    level,
    origin,
    at,
    count,
    message: message.length > LONGEST_MESSAGE ? `${wholeCharacters(message, LONGEST_MESSAGE)}…` : message,
    tokens: estimateTokens(message) + FRAME_TOKENS,
    ...(path !== undefined && !isList && { path }),
  };
}
