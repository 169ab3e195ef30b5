// Collects what a carrier delivers. Call it in the same step as the carrier's append, so that nothing is queued in
// between.
import { type Attachment, type EventOf } from '../../protocol/event.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { withAttachments } from '../conversation/attachments.ts';
import { maskKey } from '../conversation/key.ts';
import { estimateTokens } from '../conversation/tokens.ts';
import { fileStatesOf } from '../files/fileState.ts';
import { SHOWN_IN_PART } from '../files/seenPart.ts';
import { type FormatInput, type FormatName } from '../notify/format/blockText.ts';
import { formatDeveloper, LONGEST_QUOTATION } from '../notify/format/developer.ts';
import { formatMarkdown } from '../notify/format/markdown.ts';
import { formatXml } from '../notify/format/xml.ts';
import { type Outline } from '../notify/outline.ts';
import { type Plan, planNotifications } from '../notify/plan.ts';
import { type Clock, type Model, type QueuedMessage } from '../ports/ports.ts';
import { type Snapshots } from '../ports/storage.ts';

interface DeliveryPorts {
  settings(): Settings;
  model(): Pick<Model, 'contextWindow' | 'takesHostMessages'>;
  readonly snapshots: Pick<Snapshots, 'hash'>;
  readonly clock: Pick<Clock, 'now'>;
}

const encoder = new TextEncoder();

type Moved = NonNullable<EventOf<'chat_request'>['seen']>;

/**
 * The fields of a carrier that is appended now: everything pending, planned and formatted; none if nothing is pending.
 * `textsAsContent`: the queued messages are the carrier's own content, so they are not delivered again.
 */
export function collect(
  log: ConversationLog,
  ports: DeliveryPorts,
  textsAsContent = false,
): Pick<EventOf<'chat_request'>, 'notifications' | 'seen'> {
  const { pending, turn } = log.state;
  if (pending.isEmpty) return {};
  const settings = ports.settings();
  const now = ports.clock.now();
  const model = ports.model();
  const format = chooseFormat(settings, model);
  const { notifications, queuedMessages: texts } = pending;
  const print = (outline: Outline) => formatBlock(format, { plan: outline, key: turn.key, now });
  const plan = planNotifications({
    pending: notifications,
    settings,
    contextWindow: model.contextWindow,
    ...(format === 'developer' && { longestMessage: LONGEST_QUOTATION }),
    measure: (candidate) => estimateTokens(print(candidate)),
  });
  const { shown, merged, counted, filtered } = plan;
  const seen = [...movedBy(log, plan), ...texts.flatMap((text) => seenIn(text.attachments ?? [], ports.snapshots))];
  return {
    notifications: {
      format,
      text: print(plan),
      user: textsAsContent ? [] : texts.map((text) => printQueued(text, turn.key)),
      through: pending.through,
      user_text: texts.map((text) => text.id),
      shown: [...shown],
      merged: [...merged],
      counted: [...counted],
      filtered: [...filtered],
    },
    ...(seen.length > 0 && { seen }),
  };
}

/** Files attached with their whole text count as seen; their snapshots were taken when the message was accepted. */
export function seenIn(attachments: readonly Attachment[], snapshots: DeliveryPorts['snapshots']): Moved {
  return attachments.flatMap((one) =>
    one.type === 'file_content' ? [{ path: one.path, hash: snapshots.hash(encoder.encode(one.content)) }] : [],
  );
}

/** The plan of what would be delivered now, for the counter in the status bar. */
export function countDeliverable(
  log: Pick<ConversationLog, 'state'>,
  options: { readonly settings: Settings; readonly contextWindow: number },
): Plan {
  return planNotifications({
    pending: log.state.pending.notifications,
    settings: options.settings,
    contextWindow: options.contextWindow,
    measure: () => 0,
  });
}

/** The user's message as the model reads it: after the results or the request, never inside a block. */
function printQueued({ content, attachments }: QueuedMessage, key: string): string {
  return maskKey(withAttachments(content, attachments), key);
}

function chooseFormat(settings: Settings, { takesHostMessages }: Pick<Model, 'takesHostMessages'>): FormatName {
  const wanted = settings['notifications.format'];
  if (wanted !== 'auto') return wanted;
  return takesHostMessages === true ? 'developer' : 'xml';
}

/** `synthetic-tool` sends the XML block as the result of a call that `models/chat/chatMessages.ts` inserts. */
export function formatBlock(format: FormatName, input: FormatInput): string {
  if (format === 'developer') return formatDeveloper(input);
  return format === 'markdown' ? formatMarkdown(input) : formatXml(input);
}

/** A complete diff that is shown unchanged updates *seen*; a summary or a cut diff does not. */
function movedBy(log: ConversationLog, plan: Plan): Moved {
  return plan.entries.flatMap((entry) => {
    const notification = log.state.pending.get(entry.id);
    if (notification?.message !== entry.message) return [];
    return fileStatesOf(notification).flatMap(({ path, hash, complete }) => {
      if (!complete) return [];
      // A diff does not show the lines that the model has never seen or no longer has.
      const before = log.state.seen.get(path);
      // Lines that a search showed are compared with what it showed.
      if (before?.part?.searched === true) return [];
      const partial = before?.part !== undefined || before?.compacted === true;
      return { path, hash, ...(partial && { part: SHOWN_IN_PART }) };
    });
  });
}
