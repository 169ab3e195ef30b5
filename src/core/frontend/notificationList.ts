// Lists all notifications of a conversation for the Notifications view: grouped by state and filtered. Pure.
import { defined } from '../../base/json/defined.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { type Level } from '../../protocol/notification.ts';
import { type NotificationLabel } from '../../protocol/page/pendingView.ts';
import { nameInScope } from '../../protocol/scopes.ts';
import { labelNotification } from '../conversation/notificationLabel.ts';
import { notificationHistory } from '../conversation/projections/history.ts';
import { estimateTokens } from '../conversation/tokens.ts';
import { DISMISSED_BY } from '../notify/queue.ts';
import { type NotificationRecord } from '../ports/notificationRecord.ts';
import { FRAME_TOKENS } from './pendingView.ts';

export const LISTED_STATES = ['pending', 'delivered', 'filtered', 'withdrawn', 'dismissed'] as const;
export type ListedState = (typeof LISTED_STATES)[number];

export interface ListedNotification extends NotificationLabel {
  readonly id: string;
  readonly state: ListedState;
  /** Why it was withdrawn, or that it was delivered merged or counted. */
  readonly detail?: string;
  readonly level: Level;
  readonly origin: string;
  readonly at: string;
  readonly message: string;
  readonly tokens: number;
  readonly receipt: NotificationRecord['receipt'];
  readonly path?: string;
}

export interface NotificationFilter {
  /** Empty: any text. */
  readonly text: string;
  readonly states?: readonly ListedState[];
  readonly levels?: readonly Level[];
  readonly sources?: readonly string[];
}

export interface NotificationList {
  /** Newest first. */
  readonly groups: ReadonlyMap<ListedState, readonly ListedNotification[]>;
  /** Every source that occurs. */
  readonly sources: readonly string[];
}

export function listNotifications(events: Iterable<LogEvent>, filter: NotificationFilter): NotificationList {
  const all = notificationHistory(events).map(listed).reverse();
  const groups = groupBy(
    all.filter((one) => passes(one, filter)),
    ({ state }) => state,
  );
  return { groups, sources: [...new Set(all.map(({ source }) => source))].sort() };
}

function groupBy<Key>(all: readonly ListedNotification[], keyOf: (one: ListedNotification) => Key) {
  const groups = new Map<Key, ListedNotification[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}

function listed({ notification, state, receipt, reason }: NotificationRecord): ListedNotification {
  const { id, level, origin, at, message, subject } = notification;
  const path = subject === undefined ? undefined : nameInScope('file', subject);
  const detail = state === 'merged' || state === 'counted' ? state : reason;
  return {
    ...labelNotification(notification),
    id,
    state: stateOf(state, reason),
    ...defined({ detail }),
    level,
    origin,
    at,
    message,
    // The block does not contain the texts of merged and counted notifications.
    tokens: state === 'shown' ? estimateTokens(message) + FRAME_TOKENS : 0,
    receipt,
    ...defined({ path }),
  };
}

function stateOf(state: NotificationRecord['state'], reason: string | undefined): ListedState {
  switch (state) {
    case 'shown':
    case 'merged':
    case 'counted':
      return 'delivered';
    case 'withdrawn':
      return reason?.startsWith(DISMISSED_BY) === true ? 'dismissed' : 'withdrawn';
    case 'pending':
    case 'filtered':
      return state;
  }
}

function passes(one: ListedNotification, { text, states, levels, sources }: NotificationFilter): boolean {
  if (states !== undefined && !states.includes(one.state)) return false;
  if (levels !== undefined && !levels.includes(one.level)) return false;
  if (sources !== undefined && !sources.includes(one.source)) return false;
  if (text === '') return true;
  const wanted = text.toLowerCase();
  return [one.label, one.subject, one.message].some((part) => part.toLowerCase().includes(wanted));
}
