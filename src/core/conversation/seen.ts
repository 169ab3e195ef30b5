// Decides which bytes of each file the model was shown last, and which later state of it was told without being shown.
import { type LogEvent } from '../../protocol/event.ts';
import { fileStateOf } from '../notify/fileChange.ts';

export interface SeenState {
  readonly hash: string;
  /** The newest state that a notification told of, pending or carried. */
  readonly told?: string;
}

export class Seen {
  readonly #files = new Map<string, SeenState>();
  /** Pending notifications by id, to forget what they told when they are withdrawn. */
  readonly #tellers = new Map<string, string>();

  get(path: string): SeenState | undefined {
    return this.#files.get(path);
  }

  paths(): Iterable<string> {
    return this.#files.keys();
  }

  /** Returns whether the seen bytes of any file moved. */
  fold(event: LogEvent): boolean {
    if (event.type === 'notification_queued') this.#told(event.notification);
    if (event.type === 'notification_withdrawn') for (const id of event.ids) this.#untold(id);
    if (!('seen' in event) || event.seen === undefined || event.seen.length === 0) return false;
    for (const { path, hash } of event.seen) this.#files.set(path, { hash });
    return true;
  }

  #told(notification: { id: string; data?: Readonly<Record<string, unknown>> | undefined }): void {
    const state = fileStateOf(notification);
    const file = state && this.#files.get(state.path);
    if (state === undefined || file === undefined) return;
    this.#files.set(state.path, { hash: file.hash, told: state.hash });
    this.#tellers.set(notification.id, state.path);
  }

  #untold(id: string): void {
    const path = this.#tellers.get(id);
    const file = path === undefined ? undefined : this.#files.get(path);
    this.#tellers.delete(id);
    if (path !== undefined && file !== undefined) this.#files.set(path, { hash: file.hash });
  }
}
