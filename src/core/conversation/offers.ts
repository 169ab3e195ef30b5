// Projects the carriers of an outside agent's log that it is not known to have: they are offered again, exactly as they are.
import { type LogEvent } from '../../protocol/event.ts';

export class Offers {
  readonly #open = new Map<number, string>();
  /** Conversations keep no texts here. */
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
        // Everything that it carries may be filtered by the settings.
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
