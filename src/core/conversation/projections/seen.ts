// Projects which bytes of each file the model was shown last, and which later state a notification announced.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type Notification } from '../../../protocol/notification.ts';
import { fileStatesOf } from '../../files/fileState.ts';
import { joinParts } from '../../files/seenPart.ts';
import { type SeenState } from '../../ports/fileViews.ts';

interface File extends SeenState {
  readonly seq: number;
  /** The states announced by carried notifications; they apply again when a pending notification is withdrawn. */
  readonly carried?: { readonly announced?: string; readonly unsaved?: string };
}

type Announced = { readonly path: string; readonly hash: string; readonly as: 'announced' | 'unsaved' };

export class Seen {
  readonly #files = new Map<string, File>();
  /** The states announced by each pending notification, by its id; removed when it is withdrawn. */
  readonly #announcements = new Map<string, readonly Announced[]>();

  get(path: string): SeenState | undefined {
    const file = this.#files.get(path);
    if (file === undefined) return undefined;
    const { seq: _, carried: _carried, ...state } = file;
    return state;
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
        this.#carried(event);
        return this.#moved(event);
      case 'files_seen':
        return this.#moved(event);
      default:
        return false;
    }
  }

  #moved({ seen, seq }: EventOf<'chat_request' | 'tool_call_response' | 'compaction' | 'files_seen'>): boolean {
    if (seen === undefined || seen.length === 0) return false;
    for (const { path, hash, part } of seen) {
      const whole = viewAfter(this.#files.get(path), { hash, ...(part && { part }) });
      this.#files.set(path, { ...whole, seq });
    }
    return true;
  }

  #announce(notification: Notification): void {
    const as = notification.kind.name === 'unsaved' ? 'unsaved' : 'announced';
    const announced = fileStatesOf(notification).flatMap(({ path, hash }): Announced[] => {
      const file = this.#files.get(path);
      if (file === undefined) return [];
      this.#files.set(path, { ...file, [as]: hash });
      return [{ path, hash, as }];
    });
    if (announced.length > 0) this.#announcements.set(notification.id, announced);
  }

  #withdraw(id: string): void {
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

  /** Carried notifications can no longer be withdrawn; filtered ones were not delivered. */
  #carried({ notifications }: EventOf<'chat_request' | 'tool_call_response'>): void {
    if (notifications === undefined || this.#announcements.size === 0) return;
    const { shown, merged, counted, filtered } = notifications;
    for (const id of [...shown, ...merged, ...counted]) {
      for (const { path, hash, as } of this.#announcements.get(id) ?? []) {
        const file = this.#files.get(path);
        if (file !== undefined) this.#files.set(path, { ...file, carried: { ...file.carried, [as]: hash } });
      }
      this.#announcements.delete(id);
    }
    for (const id of filtered) this.#announcements.delete(id);
  }

  #compacted(through: number): void {
    for (const [path, file] of this.#files) {
      if (file.seq <= through) this.#files.set(path, { ...file, compacted: true });
    }
  }
}

/** The state after one more view of a file: parts of the same bytes are joined, other bytes start over. */
export function viewAfter(before: SeenState | undefined, { hash, part }: SeenState): SeenState {
  if (part === undefined) return { hash };
  // Lines that a search shows do not replace what was read of the file before.
  if (part.searched === true && before !== undefined && before.part?.searched !== true) return before;
  const same = before?.hash === hash && before.compacted !== true;
  const joined = same ? before.part && joinParts(before.part, part) : joinParts(part, part);
  return { hash, ...(joined && { part: joined }) };
}
