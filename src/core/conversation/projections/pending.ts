// Projects the pending notifications and queued messages: queued after the last carrier's `through` and not withdrawn.
import { defined } from '../../../base/json/defined.ts';
import { type LogEvent } from '../../../protocol/event.ts';
import { type Kind, type Notification, READ_NOTIFICATIONS } from '../../../protocol/notification.ts';
import { type QueuedMessage } from '../../ports/ports.ts';

interface Entry {
  readonly seq: number;
  readonly group: Group;
  readonly notification: Notification;
}

/**
 * All pending notifications of one kind and subject. Only the newest are shown, so only they are kept whole, to save
 * memory in idle conversations. For the older ones, ids, numbers and times are kept; the log has the rest.
 */
interface Group {
  /** Its kind, subject, level and origin represent the whole group. */
  newest: Notification;
  /** Oldest first, never more than KEPT_WHOLE. */
  whole: Entry[];
  /** Three parallel arrays, oldest first. */
  olderIds: string[];
  olderSeqs: number[];
  olderAts: string[];
}

/** One more than is shown, so that withdrawing the newest leaves one to show. */
const KEPT_WHOLE = 2;

export class Pending {
  readonly #groups = new Set<Group>();
  /** The groups of a subject, one for each kind. Notifications without a subject are not in it. */
  readonly #bySubject = new Map<string, Group[]>();
  readonly #byId = new Map<string, Entry>();
  readonly #queuedMessages = new Map<string, { seq: number; message: QueuedMessage }>();
  #count = 0;
  #lastSeq = 0;

  /** Oldest first. Notifications replaced by newer ones of the same kind and subject have a placeholder as message. */
  get notifications(): readonly Notification[] {
    const entries = [...this.#groups].flatMap((group) => [...older(group), ...group.whole]);
    return entries.sort((a, b) => a.seq - b.seq).map((entry) => entry.notification);
  }

  get count(): number {
    return this.#count;
  }

  get queuedMessages(): readonly QueuedMessage[] {
    return [...this.#queuedMessages.values()].map((entry) => entry.message);
  }

  /** Finds a queued message by the id of the event that queued it. */
  queuedMessage(id: string): QueuedMessage | undefined {
    return this.#queuedMessages.get(id)?.message;
  }

  get isEmpty(): boolean {
    return this.#count === 0 && this.#queuedMessages.size === 0;
  }

  /** The `through` of a carrier planned now. */
  get through(): number {
    return this.#lastSeq;
  }

  /** Undefined also if newer notifications of the same kind and subject have replaced it. */
  newest(id: string): Notification | undefined {
    return this.#byId.get(id)?.notification;
  }

  get(id: string): Notification | undefined {
    const known = this.newest(id);
    if (known !== undefined) return known;
    for (const group of this.#groups) {
      const index = group.olderIds.indexOf(id);
      if (index !== -1) return older(group)[index]?.notification;
    }
    return undefined;
  }

  /** Ids of the pending notifications of this kind and subject, oldest first. */
  idsOf(kind: Kind, subject: string): readonly string[] {
    const group = this.#find(kind, subject);
    return group === undefined ? [] : [...group.olderIds, ...group.whole.map((entry) => entry.notification.id)];
  }

  fold(event: LogEvent): void {
    this.#lastSeq = event.seq;
    switch (event.type) {
      case 'notification_queued':
        return this.#queued(event.seq, event.notification);
      case 'notification_withdrawn':
        return this.#remove(new Set(event.ids));
      case 'user_text_queued': {
        const { event_id: id, content, typed, timestamp: at, attachments } = event;
        this.#queuedMessages.set(id, {
          seq: event.seq,
          message: { id, content, ...defined({ typed }), at, ...defined({ attachments }) },
        });
        return;
      }
      case 'user_text_withdrawn':
        for (const id of event.ids) this.#queuedMessages.delete(id);
        return;
      case 'chat_request':
      case 'tool_call_response':
        if (event.notifications !== undefined) this.#carried(event.notifications.through);
        return;
      default:
        return;
    }
  }

  #queued(seq: number, notification: Notification): void {
    const { id, kind, subject } = notification;
    const group = (subject === undefined ? undefined : this.#find(kind, subject)) ?? this.#begin(notification);
    group.newest = notification;
    const entry = { seq, group, notification };
    group.whole.push(entry);
    this.#byId.set(id, entry);
    this.#count += 1;
    const replaced = group.whole.length > KEPT_WHOLE ? group.whole.shift() : undefined;
    if (replaced === undefined) return;
    this.#byId.delete(replaced.notification.id);
    group.olderIds.push(replaced.notification.id);
    group.olderSeqs.push(replaced.seq);
    group.olderAts.push(replaced.notification.at);
  }

  #find(kind: Kind, subject: string): Group | undefined {
    const groups = this.#bySubject.get(subject);
    return groups?.find(({ newest }) => newest.kind.source === kind.source && newest.kind.name === kind.name);
  }

  #begin(newest: Notification): Group {
    const group: Group = { newest, whole: [], olderIds: [], olderSeqs: [], olderAts: [] };
    this.#groups.add(group);
    if (newest.subject === undefined) return group;
    const others = this.#bySubject.get(newest.subject);
    if (others === undefined) this.#bySubject.set(newest.subject, [group]);
    else others.push(group);
    return group;
  }

  #end(group: Group): void {
    this.#groups.delete(group);
    const { subject } = group.newest;
    if (subject === undefined) return;
    const others = this.#bySubject.get(subject)?.filter((one) => one !== group) ?? [];
    if (others.length === 0) this.#bySubject.delete(subject);
    else this.#bySubject.set(subject, others);
  }

  /**
   * The ids usually share a subject, so this searches the groups found by id first, and all groups only if ids are
   * left.
   */
  #remove(ids: Set<string>): void {
    const groups = new Set([...ids].flatMap((id) => this.#byId.get(id)?.group ?? []));
    let left = ids.size;
    for (const group of groups) left -= this.#keep(group, (_, id) => !ids.has(id));
    if (left === 0) return;
    for (const group of [...this.#groups]) this.#keep(group, (_, id) => !ids.has(id));
  }

  #carried(through: number): void {
    if (through >= this.#lastSeq - 1) {
      this.#groups.clear();
      this.#bySubject.clear();
      this.#byId.clear();
      this.#queuedMessages.clear();
      this.#count = 0;
      return;
    }
    for (const group of [...this.#groups]) this.#keep(group, (seq) => seq > through);
    for (const [id, { seq }] of this.#queuedMessages) if (seq <= through) this.#queuedMessages.delete(id);
  }

  /** Drops the notifications that do not pass; returns the number dropped. */
  #keep(group: Group, passes: (seq: number, id: string) => boolean): number {
    const before = group.whole.length + group.olderIds.length;
    const kept = group.olderIds.map((id, index) => passes(group.olderSeqs[index] ?? 0, id));
    const isKept = (_: unknown, index: number) => kept[index] === true;
    group.olderIds = group.olderIds.filter(isKept);
    group.olderSeqs = group.olderSeqs.filter(isKept);
    group.olderAts = group.olderAts.filter(isKept);
    group.whole = group.whole.filter(({ seq, notification }) => {
      if (passes(seq, notification.id)) return true;
      this.#byId.delete(notification.id);
      return false;
    });
    const dropped = before - group.whole.length - group.olderIds.length;
    this.#count -= dropped;
    if (group.whole.length + group.olderIds.length === 0) this.#end(group);
    return dropped;
  }
}

/** The replaced notifications, with a placeholder as message. */
function older({ newest, olderIds, olderSeqs, olderAts }: Group): Omit<Entry, 'group'>[] {
  const { kind, subject, level, origin } = newest;
  return olderIds.map((id, index) => ({
    seq: olderSeqs[index] ?? 0,
    notification: {
      kind,
      subject,
      level,
      origin,
      id,
      message: `An earlier state; ${READ_NOTIFICATIONS} has its text.`,
      at: olderAts[index] ?? newest.at,
    },
  }));
}
