// Queues and withdraws notifications of a conversation; its log is the queue.
import { wholeCharacters } from '../../base/text.ts';
import { RECOVERIES } from '../../protocol/kinds.ts';
import {
  type Kind,
  LIST_LIMIT,
  MESSAGE_LIMIT,
  type NotificationDraft,
  printKind,
} from '../../protocol/notification.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { failureEndedBy } from '../conversation/projections/reportedFailures.ts';
import { type Ids } from '../ports/ports.ts';

/** The field of `data` that marks what the user has requested, which may be longer. */
export const REQUESTED = 'requested';

const RECONNECTED = 'mcp.reconnected' satisfies keyof typeof RECOVERIES;

/**
 * Queues the draft, unless it repeats a reported state. A draft that cancels a pending notification withdraws it
 * instead.
 */
export function enqueue(log: ConversationLog, ids: Ids, draft: NotificationDraft, repeated = false): Promise<unknown> {
  if (!repeated && log.state.repeats.isRepeat(draft)) return withdrawPending(log, draft);
  const cancelled = cancelledBy(log, draft);
  if (cancelled.length > 0) {
    const reason = `${printKind(draft.kind)} came before it was delivered`;
    return log.append({ type: 'notification_withdrawn', ids: [...cancelled], reason });
  }
  if (log.state.handles.isReported(draft) || isOfUnreportedLoss(log, draft)) return Promise.resolve();
  const notification = { ...draft, id: ids.ulid(), message: bound(log, draft) };
  return log.append({ type: 'notification_queued', notification });
}

/** Withdraws the pending notifications of this kind and subject. Delivered ones cannot be withdrawn. */
export async function withdraw(log: ConversationLog, kind: Kind, subject: string, reason: string): Promise<boolean> {
  const ids = log.state.pending.idsOf(kind, subject);
  if (ids.length === 0) return false;
  await log.append({ type: 'notification_withdrawn', ids: [...ids], reason });
  return true;
}

/** The reason of a withdrawal begins with this if somebody requested it. */
export const DISMISSED_BY = 'dismissed by ';
const DISMISSED = `${DISMISSED_BY}the user`;

/** Withdraws those of these notifications that are pending. Resolves to their number. */
export async function dismiss(log: ConversationLog, ids: readonly string[]): Promise<number> {
  const known = new Set(log.state.pending.notifications.map(({ id }) => id));
  const pending = ids.filter((id) => known.has(id));
  if (pending.length > 0) await log.append({ type: 'notification_withdrawn', ids: pending, reason: DISMISSED });
  return pending.length;
}

/** The state is again the last shown one, so pending notifications of states in between are withdrawn. */
async function withdrawPending(log: ConversationLog, { kind, subject }: NotificationDraft): Promise<void> {
  if (subject !== undefined) await withdraw(log, kind, subject, 'it is again as it was last reported');
}

/** Pending failures that this recovery cancels. A delivered failure needs its recovery reported. */
function cancelledBy({ state }: ConversationLog, { kind, subject }: NotificationDraft): readonly string[] {
  const loss = failureEndedBy(printKind(kind));
  if (loss === undefined || subject === undefined || state.reportedFailures.has(loss, subject)) return [];
  const [source = '', name = ''] = loss.split('.');
  return state.pending.idsOf({ source, name }, subject);
}

/** A server is reported as connected at each start; that is queued only if the loss of its connection was reported. */
function isOfUnreportedLoss({ state }: ConversationLog, { kind, subject }: NotificationDraft): boolean {
  const printed = printKind(kind);
  if (printed !== RECONNECTED || subject === undefined) return false;
  return !state.reportedFailures.has(RECOVERIES[RECONNECTED], subject);
}

function bound({ tools }: ConversationLog, { kind, message, data }: NotificationDraft): string {
  const mayBeLong = data?.['summary'] === true || data?.[REQUESTED] === true;
  if (message.length <= (mayBeLong ? LIST_LIMIT : MESSAGE_LIMIT)) return message;
  const tool = tools?.withRestOf(kind.source);
  const pointer = tool === undefined ? '… (cut here)' : `… (cut here; ${tool} has the rest)`;
  return wholeCharacters(message, MESSAGE_LIMIT - pointer.length) + pointer;
}
