// Projects the carriers that an outside agent has not confirmed: they are offered to it again, exactly as they are.
import { type LogEvent } from '../../protocol/event.ts';

export class Offers {
  readonly #open = new Map<number, string>();
  /** False for a conversation, for which no texts are kept here. */
  #isListener = false;

  /** The texts by the carrier's number, oldest first. */
  get open(): ReadonlyMap<number, string> {
    return this.#open;
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'listener_started':
        this.#isListener = true;
        return;
      case 'chat_request': {
        const text = event.notifications?.text ?? '';
        // The text is empty if the settings filter everything that the carrier delivers.
        if (this.#isListener && text !== '') this.#open.set(event.seq, text);
        return;
      }
      case 'carriers_accepted':
        for (const carrier of event.carriers) this.#open.delete(carrier);
        return;
      default:
    }
  }
}
