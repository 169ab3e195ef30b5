// Decides which bytes of each file the model was shown last, and which later state of it was told without being shown.
import { type EventOf, type LogEvent } from '../../protocol/event.ts';
import { fileStateOf } from '../notify/fileChange.ts';

export interface SeenState {
  readonly hash: string;
  /** The newest state that a notification told of, pending or carried. */
  readonly told?: string;
  /** A compaction took the bytes out of what the model reads: it must read them again before it replaces them. */
  readonly compacted?: true;
}

export class Seen {
  readonly #files = new Map<string, SeenState & { readonly seq: number }>();
  /** Pending notifications by id, to forget what they told when they are withdrawn. */
  readonly #tellers = new Map<string, string>();

  get(path: string): SeenState | undefined {
    const file = this.#files.get(path);
    if (file === undefined) return undefined;
    const { seq: _, ...state } = file;
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
    for (const { path, hash } of seen) this.#files.set(path, { hash, seq });
    return true;
  }

  #told(notification: { id: string; data?: Readonly<Record<string, unknown>> | undefined }): void {
    const state = fileStateOf(notification);
    const file = state && this.#files.get(state.path);
    if (state === undefined || file === undefined) return;
    this.#files.set(state.path, { ...file, told: state.hash });
    this.#tellers.set(notification.id, state.path);
  }

  #untold(id: string): void {
    const path = this.#tellers.get(id);
    const file = path === undefined ? undefined : this.#files.get(path);
    this.#tellers.delete(id);
    if (path === undefined || file === undefined) return;
    const { told: _, ...rest } = file;
    this.#files.set(path, rest);
  }

  /** What was carried cannot be withdrawn any more. */
  #carried({ notifications }: EventOf<'chat_request' | 'tool_call_response'>): void {
    if (notifications === undefined || this.#tellers.size === 0) return;
    const { shown, merged, counted, filtered } = notifications;
    for (const ids of [shown, merged, counted, filtered]) for (const id of ids) this.#tellers.delete(id);
  }

  #compacted(event: EventOf<'compaction'>): void {
    for (const [path, file] of this.#files) {
      if (file.seq <= event.through) this.#files.set(path, { ...file, compacted: true });
    }
  }
}
