// Decides which bytes of each file the model was shown last, and which later state of it was told without being shown.

import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type Notification } from '../../../protocol/notification.ts';
import { fileStatesOf } from '../../files/fileState.ts';
import { joinParts } from '../../files/seenPart.ts';
import { type SeenState } from '../../ports/fileViews.ts';

interface File extends SeenState {
  readonly seq: number;
  /** What was told and carried: what stands when a pending one is taken back. */
  readonly carried?: { readonly told?: string; readonly unsaved?: string };
}

type Announced = { readonly path: string; readonly hash: string; readonly as: 'told' | 'unsaved' };

export class Seen {
  readonly #files = new Map<string, File>();
  /** Pending notifications by id, to forget what they told when they are withdrawn. */
  readonly #tellers = new Map<string, readonly Announced[]>();

  get(path: string): SeenState | undefined {
    const file = this.#files.get(path);
    if (file === undefined) return undefined;
    const { seq: _, carried: _carried, ...state } = file;
    return state;
  }

  paths(): Iterable<string> {
    return this.#files.keys();
  }

  /** Returns whether the seen bytes of any file moved. */
  fold(event: LogEvent): boolean {
    switch (event.type) {
      case 'notification_queued':
        this.#told(event.notification);
        return false;
      case 'notification_withdrawn':
        for (const id of event.ids) this.#untold(id);
        return false;
      case 'compaction':
        this.#compacted(event);
        return this.#moved(event);
      case 'chat_request':
      case 'tool_call_response':
        this.#carried(event);
        return this.#moved(event);
      default:
        return false;
    }
  }

  #moved({ seen, seq }: EventOf<'chat_request' | 'tool_call_response' | 'compaction'>): boolean {
    if (seen === undefined || seen.length === 0) return false;
    for (const { path, hash, part } of seen) {
      const whole = viewAfter(this.#files.get(path), { hash, ...(part && { part }) });
      this.#files.set(path, { ...whole, seq });
    }
    return true;
  }

  #told(notification: Notification): void {
    const as = notification.kind.name === 'unsaved' ? 'unsaved' : 'told';
    const told = fileStatesOf(notification).flatMap(({ path, hash }): Announced[] => {
      const file = this.#files.get(path);
      if (file === undefined) return [];
      this.#files.set(path, { ...file, [as]: hash });
      return [{ path, hash, as }];
    });
    if (told.length > 0) this.#tellers.set(notification.id, told);
  }

  #untold(id: string): void {
    for (const { path, as, hash } of this.#tellers.get(id) ?? []) {
      const file = this.#files.get(path);
      // What a newer one told stands.
      if (file?.[as] !== hash) continue;
      const { [as]: _, ...rest } = file;
      const before = file.carried?.[as];
      this.#files.set(path, before === undefined ? rest : { ...rest, [as]: before });
    }
    this.#tellers.delete(id);
  }

  /** What was carried cannot be withdrawn any more; what settings filter was told to nobody. */
  #carried({ notifications }: EventOf<'chat_request' | 'tool_call_response'>): void {
    if (notifications === undefined || this.#tellers.size === 0) return;
    const { shown, merged, counted, filtered } = notifications;
    for (const id of [...shown, ...merged, ...counted]) {
      for (const { path, hash, as } of this.#tellers.get(id) ?? []) {
        const file = this.#files.get(path);
        if (file !== undefined) this.#files.set(path, { ...file, carried: { ...file.carried, [as]: hash } });
      }
      this.#tellers.delete(id);
    }
    for (const id of filtered) this.#tellers.delete(id);
  }

  #compacted(event: EventOf<'compaction'>): void {
    for (const [path, file] of this.#files) {
      if (file.seq <= event.through) this.#files.set(path, { ...file, compacted: true });
    }
  }
}

/** What is known of a file after one more view of it: parts of the same bytes add up, other bytes begin anew. */
export function viewAfter(before: SeenState | undefined, { hash, part }: SeenState): SeenState {
  if (part === undefined) return { hash };
  const same = before?.hash === hash && before.compacted !== true;
  const joined = same ? before.part && joinParts(before.part, part) : joinParts(part, part);
  return { hash, ...(joined && { part: joined }) };
}
