// Decides what still waits to be told: queued after the last carrier's `through`, minus what was withdrawn.
import { type LogEvent } from '../../protocol/event.ts';
import { type Notification } from '../../protocol/notification.ts';

export interface QueuedText {
  readonly id: string;
  readonly content: string;
  readonly at: string;
}

export class Pending {
  readonly #notifications = new Map<string, { seq: number; notification: Notification }>();
  readonly #texts = new Map<string, { seq: number; text: QueuedText }>();
  #lastSeq = 0;

  /** Oldest first. */
  get notifications(): readonly Notification[] {
    return [...this.#notifications.values()].map((entry) => entry.notification);
  }

  get texts(): readonly QueuedText[] {
    return [...this.#texts.values()].map((entry) => entry.text);
  }

  get isEmpty(): boolean {
    return this.#notifications.size === 0 && this.#texts.size === 0;
  }

  /** What a carrier that is planned now reaches through. */
  get through(): number {
    return this.#lastSeq;
  }

  get(id: string): Notification | undefined {
    return this.#notifications.get(id)?.notification;
  }

  fold(event: LogEvent): void {
    this.#lastSeq = event.seq;
    switch (event.type) {
      case 'notification_queued':
        this.#notifications.set(event.notification.id, { seq: event.seq, notification: event.notification });
        return;
      case 'notification_withdrawn':
        for (const id of event.ids) this.#notifications.delete(id);
        return;
      case 'user_text_queued':
        this.#texts.set(event.event_id, {
          seq: event.seq,
          text: { id: event.event_id, content: event.content, at: event.timestamp },
        });
        return;
      case 'chat_request':
      case 'tool_call_response':
        if (event.notifications !== undefined) this.#carried(event.notifications.through);
        return;
      default:
        return;
    }
  }

  #carried(through: number): void {
    for (const queue of [this.#notifications, this.#texts]) {
      // Maps keep the order of insertion, which is the order of seq: the first that is newer ends it.
      for (const [id, entry] of queue) {
        if (entry.seq > through) break;
        queue.delete(id);
      }
    }
  }
}
