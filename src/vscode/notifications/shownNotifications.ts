// Lists the notifications of the shown conversation from its log.
import {
  listNotifications,
  type NotificationFilter,
  type NotificationList,
} from '../../core/frontend/notificationList.ts';
import { type Store } from '../../core/ports/storage.ts';

export interface ShownNotificationsDeps {
  readonly store: Pick<Store, 'read'>;
  /** The shown conversation. */
  shown(): string | undefined;
  filter(): NotificationFilter;
}

export class ShownNotifications {
  readonly #deps: ShownNotificationsDeps;
  #list: NotificationList | undefined;
  #conversation: string | undefined;
  #isStale = false;
  #reading: Promise<void> | undefined;

  constructor(deps: ShownNotificationsDeps) {
    this.#deps = deps;
  }

  get list(): NotificationList | undefined {
    return this.#list;
  }

  /** The conversation that was read last. */
  get conversation(): string | undefined {
    return this.#conversation;
  }

  /** Reads one log at a time. A call during a read leads to one more read after it. */
  refresh(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { store, shown, filter } = this.#deps;
    while (this.#isStale) {
      this.#isStale = false;
      const conversation = shown();
      this.#conversation = conversation;
      const read = conversation === undefined ? undefined : await store.read(conversation);
      // Another conversation is shown meanwhile: read that one.
      if (shown() !== conversation) this.#isStale = true;
      else this.#list = read?.ok === true ? listNotifications(read.value.events, filter()) : undefined;
    }
  }
}
