// Collects what a carrier delivers. Called synchronously with the carrier's append, so that nothing is queued in between.
import { type Attachment, type Carried, type EventOf } from '../../protocol/event.ts';
import { type Settings } from '../../protocol/settings.ts';
import { type ConversationLog } from '../conversation/log.ts';
import { estimateTokens } from '../conversation/tokens.ts';
import { fileStatesOf } from '../files/fileState.ts';
import { SHOWN_IN_PART } from '../files/seenPart.ts';
import { type FormatName } from '../notify/format/format.ts';
import { formatBlock } from '../notify/format/formats.ts';
import { type Outline, type Plan, planNotifications } from '../notify/plan.ts';
import { type Ports } from '../ports/ports.ts';

export interface DeliveryOptions {
  readonly settings: Settings;
  readonly contextWindow: number;
  readonly now: number;
  /** Queued messages are the carrier's own content: the block does not repeat them. */
  readonly textsAsContent?: boolean;
  /** Hashes attachments of queued messages; absent: none of them counts as seen. */
  hash?(bytes: Uint8Array): string;
}

export type DeliveryPorts = Pick<Ports, 'settings' | 'model' | 'snapshots' | 'clock'>;

const encoder = new TextEncoder();

type Moved = NonNullable<EventOf<'chat_request'>['seen']>;

/** Everything pending, planned and formatted; undefined if nothing is. */
export function collect(log: ConversationLog, options: DeliveryOptions): { carried: Carried; seen: Moved } | undefined {
  const { pending, turn } = log.state;
  if (pending.isEmpty) return undefined;
  const format = chooseFormat(options.settings);
  const { notifications, texts } = pending;
  const print = (outline: Outline, withTexts = options.textsAsContent !== true) =>
    formatBlock(format, { plan: outline, texts: withTexts ? texts : [], key: turn.key, now: options.now });
  const plan = planNotifications({
    pending: notifications,
    settings: options.settings,
    contextWindow: options.contextWindow,
    measure: (candidate) => estimateTokens(print(candidate, false)),
  });
  const { shown, merged, counted, filtered } = plan;
  const user_text = texts.map((text) => text.id);
  return {
    carried: {
      format,
      text: print(plan),
      through: pending.through,
      user_text,
      shown: [...shown],
      merged: [...merged],
      counted: [...counted],
      filtered: [...filtered],
    },
    seen: [...movedBy(log, plan), ...texts.flatMap((text) => seenIn(text.attachments ?? [], options.hash))],
  };
}

/** What a carrier that is appended now carries, as its fields. */
export function collectFor(
  deps: { readonly log: ConversationLog; readonly ports: DeliveryPorts },
  textsAsContent = false,
): Pick<EventOf<'chat_request'>, 'notifications' | 'seen'> {
  const { settings, model, snapshots, clock } = deps.ports;
  const collected = collect(deps.log, {
    settings: settings(),
    contextWindow: model().contextWindow,
    now: clock.now(),
    textsAsContent,
    hash: (bytes) => snapshots.hash(bytes),
  });
  if (collected === undefined) return {};
  const { carried, seen } = collected;
  return { notifications: carried, ...(seen.length > 0 && { seen }) };
}

/** A file that was attached with its whole text was shown; its snapshot was taken when the message was accepted. */
export function seenIn(attachments: readonly Attachment[], hash: DeliveryOptions['hash']): Moved {
  if (hash === undefined) return [];
  return attachments.flatMap((one) =>
    one.type === 'file_content' ? [{ path: one.path, hash: hash(encoder.encode(one.content)) }] : [],
  );
}

/** What plan would deliver now: the status bar's number. */
export function countDeliverable(log: ConversationLog, options: Omit<DeliveryOptions, 'now'>): Plan {
  return planNotifications({
    pending: log.state.pending.notifications,
    settings: options.settings,
    contextWindow: options.contextWindow,
    measure: () => 0,
  });
}

function chooseFormat(settings: Settings): FormatName {
  const wanted = settings['notifications.format'];
  return wanted === 'auto' ? 'xml' : wanted;
}

/** A complete diff that is shown unchanged updates *seen*; a summary or a cut diff does not. */
function movedBy(log: ConversationLog, plan: Plan): Moved {
  return plan.entries.flatMap((entry) => {
    const notification = log.state.pending.get(entry.id);
    if (notification?.message !== entry.message) return [];
    return fileStatesOf(notification).flatMap(({ path, hash, complete }) => {
      if (!complete) return [];
      // A diff shows nothing of what the model never saw or no longer has.
      const before = log.state.seen.get(path);
      const hardly = before?.part !== undefined || before?.compacted === true;
      return { path, hash, ...(hardly && { part: SHOWN_IN_PART }) };
    });
  });
}
