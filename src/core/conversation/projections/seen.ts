// Projects which bytes of each file the model was shown last, and which later state a notification announced.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type Notification } from '../../../protocol/notification.ts';
import { fileStatesOf, GONE } from '../../files/fileState.ts';
import { joinParts } from '../../files/seenPart.ts';
import { type SeenState } from '../../ports/fileViews.ts';

interface File extends SeenState {
  readonly seq: number;
  /** When these bytes were shown. */
  readonly at: string;
  /** A notification showed them, as the difference from the bytes before. */
  readonly notified?: true;
  /** The file was renamed, as a notification said. */
  readonly movedTo?: string;
  /** The states announced by carried notifications; they apply again when a pending notification is withdrawn. */
  readonly carried?: { readonly announced?: string; readonly unsaved?: string };
}

/** What the conversation knows of one file, for the list of freshness. */
export interface KnownFile extends SeenState, Pick<File, 'at' | 'notified' | 'movedTo'> {
  readonly path: string;
  /** The states that delivered notifications announced. */
  readonly delivered?: File['carried'];
  /** The states that pending notifications announce. */
  readonly pending: ReadonlySet<string>;
}

type Announced = { readonly path: string; readonly hash: string; readonly as: 'announced' | 'unsaved' };

export class Seen {
  readonly #files = new Map<string, File>();
  /** The states announced by each pending notification, by its id; removed when it is withdrawn. */
  readonly #announcements = new Map<string, readonly Announced[]>();
  #revision = 0;

  get(path: string): SeenState | undefined {
    const file = this.#files.get(path);
    if (file === undefined) return undefined;
    const { seq: _, at: _at, notified: _notified, movedTo: _movedTo, carried: _carried, ...state } = file;
    return state;
  }

  /** Oldest first. Made on demand. */
  get known(): readonly KnownFile[] {
    const pending = new Map<string, Set<string>>();
    for (const { path, hash } of [...this.#announcements.values()].flat())
      pending.set(path, (pending.get(path) ?? new Set()).add(hash));
    return [...this.#files].map(([path, { seq: _, carried, ...file }]) => ({
      path,
      ...file,
      ...(carried && { delivered: carried }),
      pending: pending.get(path) ?? new Set(),
    }));
  }

  /** Grows whenever `known` may have changed. */
  get revision(): number {
    return this.#revision;
  }

  paths(): Iterable<string> {
    return this.#files.keys();
  }

  /** The files that were shown, without those of which a search showed some lines. */
  get shown(): readonly string[] {
    return [...this.#files].flatMap(([path, { part }]) => (part?.searched === true ? [] : [path]));
  }

  /** Returns whether the seen bytes of any file changed. */
  fold(event: LogEvent): boolean {
    switch (event.type) {
      case 'notification_queued':
        this.#announce(event.notification);
        return false;
      case 'notification_withdrawn':
        for (const id of event.ids) this.#withdraw(id);
        return false;
      case 'compaction':
        this.#compacted(event.through);
        return this.#moved(event);
      case 'results_dropped':
        this.#compacted(event.through);
        return false;
      case 'chat_request':
      case 'tool_call_response':
        return this.#moved(event, this.#carried(event));
      case 'files_seen':
        return this.#moved(event);
      default:
        return false;
    }
  }

  /** `notified`: the states that the notifications of this event announce. */
  #moved(
    { seen, seq, timestamp: at }: EventOf<'chat_request' | 'tool_call_response' | 'compaction' | 'files_seen'>,
    notified: readonly Announced[] = [],
  ): boolean {
    if (seen === undefined || seen.length === 0) return false;
    this.#revision += 1;
    for (const { path, hash, part } of seen) {
      const before = this.#files.get(path);
      const whole = viewAfter(before, { hash, ...(part && { part }) });
      const isNotified = notified.some((one) => one.path === path && one.hash === hash);
      const shownAt = whole === before ? before.at : at;
      this.#files.set(path, { ...whole, seq, at: shownAt, ...(isNotified && { notified: true }) });
    }
    return true;
  }

  #announce(notification: Notification): void {
    const as = notification.kind.name === 'unsaved' ? 'unsaved' : 'announced';
    const states = fileStatesOf(notification);
    const announced = states.flatMap(({ path, hash }, index): Announced[] => {
      const file = this.#files.get(path);
      if (file === undefined) return [];
      // The new name of a renamed file follows its old one.
      const to = notification.kind.name === 'renamed' && hash === GONE ? states[index + 1]?.path : undefined;
      this.#files.set(path, { ...file, [as]: hash, ...(to !== undefined && { movedTo: to }) });
      return [{ path, hash, as }];
    });
    if (announced.length === 0) return;
    this.#revision += 1;
    this.#announcements.set(notification.id, announced);
  }

  #withdraw(id: string): void {
    this.#revision += 1;
    for (const { path, as, hash } of this.#announcements.get(id) ?? []) {
      const file = this.#files.get(path);
      // A newer notification has announced another state.
      if (file?.[as] !== hash) continue;
      const { [as]: _, ...rest } = file;
      const before = file.carried?.[as];
      this.#files.set(path, before === undefined ? rest : { ...rest, [as]: before });
    }
    this.#announcements.delete(id);
  }

  /** Carried notifications can no longer be withdrawn; filtered ones were not delivered. Returns what is delivered. */
  #carried({ notifications }: EventOf<'chat_request' | 'tool_call_response'>): readonly Announced[] {
    if (notifications === undefined || this.#announcements.size === 0) return [];
    this.#revision += 1;
    const { shown, merged, counted, filtered } = notifications;
    const delivered: Announced[] = [];
    for (const id of [...shown, ...merged, ...counted]) {
      for (const announced of this.#announcements.get(id) ?? []) {
        const { path, hash, as } = announced;
        const file = this.#files.get(path);
        if (file !== undefined) this.#files.set(path, { ...file, carried: { ...file.carried, [as]: hash } });
        delivered.push(announced);
      }
      this.#announcements.delete(id);
    }
    for (const id of filtered) this.#announcements.delete(id);
    return delivered;
  }

  #compacted(through: number): void {
    this.#revision += 1;
    for (const [path, file] of this.#files) {
      if (file.seq <= through) this.#files.set(path, { ...file, compacted: true });
    }
  }
}

/** The state after one more view of a file: parts of the same bytes are joined, other bytes start over. */
export function viewAfter(before: SeenState | undefined, { hash, part }: SeenState): SeenState {
  if (part === undefined) return { hash };
  const inContext = before?.compacted === true ? undefined : before;
  // Lines that a search shows do not replace what was read of the file before.
  if (part.searched === true && inContext !== undefined && inContext.part?.searched !== true) return inContext;
  const same = inContext?.hash === hash;
  const joined = same ? inContext.part && joinParts(inContext.part, part) : joinParts(part, part);
  return { hash, ...(joined && { part: joined }) };
}
