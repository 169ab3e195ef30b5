// Decides how a notification enters and leaves a conversation's queue, which is its log.
import { type Kind, MESSAGE_LIMIT, type NotificationDraft, printKind } from '../../protocol/notification.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { type Ids } from '../ports.ts';

/** Which tool has the rest of a message that was cut, by the notification's source. */
const TOOL_WITH_THE_REST: Readonly<Record<string, string>> = {
  file: 'read_file',
  diagnostics: 'diagnostics',
  tool: 'handle',
  message: 'read_message',
};

/** Resolves once it is on disk. The id is always ours. */
export async function enqueue(log: ConversationLog, ids: Ids, draft: NotificationDraft): Promise<void> {
  const notification = { ...draft, id: ids.ulid(), message: bound(draft) };
  await log.append({ type: 'notification_queued', notification });
}

/** Takes back what is pending of this kind and subject; what was carried cannot be taken back. */
export async function withdraw(log: ConversationLog, kind: Kind, subject: string, reason: string): Promise<boolean> {
  const ids = log.state.pending.notifications
    .filter((pending) => printKind(pending.kind) === printKind(kind) && pending.subject === subject)
    .map((pending) => pending.id);
  if (ids.length === 0) return false;
  await log.append({ type: 'notification_withdrawn', ids, reason });
  return true;
}

function bound({ kind, message }: NotificationDraft): string {
  if (message.length <= MESSAGE_LIMIT) return message;
  const tool = TOOL_WITH_THE_REST[kind.source];
  const pointer = tool === undefined ? '… (cut here)' : `… (cut here; ${tool} has the rest)`;
  return wholeCharacters(message, MESSAGE_LIMIT - pointer.length) + pointer;
}

/** Never cuts a character in half. */
export function wholeCharacters(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splits ? length - 1 : length);
}
