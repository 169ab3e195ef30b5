// Combines several front ends into one: renders to all. What the user is asked is in one register, which they all show.
import { within } from '../../base/async.ts';
import { type Disposable, toDisposable } from '../../base/disposable.ts';
import { Requests } from '../client/requests.ts';
import { type Clock, type Frontend, type Logger, type PartialAnswer, type QueuedMessage } from '../ports/ports.ts';

/** After this time, the next front end is offered the queued messages. */
const LONGEST_RETURN = 10_000;

export type AttachedFrontend = Partial<Pick<Frontend, 'render' | 'returnMessages'>>;

/** No front end can harm another: errors of one are logged. */
export class Frontends implements Frontend {
  readonly requests: Requests;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #attached = new Set<AttachedFrontend>();

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
    this.requests = new Requests((error) => this.#report(error));
  }

  /** Disposing removes it. */
  add(frontend: AttachedFrontend): Disposable {
    this.#attached.add(frontend);
    return toDisposable(() => void this.#attached.delete(frontend));
  }

  render(conversation: string, partial: PartialAnswer): void {
    for (const frontend of this.#attached) this.#guard(() => frontend.render?.(conversation, partial));
  }

  /** Offers the messages to one front end after the other, so that only one gets them. */
  async returnMessages(conversation: string, texts: readonly QueuedMessage[]): Promise<boolean> {
    for (const frontend of this.#attached) {
      if (await this.#returnMessagesTo(frontend, conversation, texts)) return true;
    }
    return false;
  }

  async #returnMessagesTo(
    frontend: AttachedFrontend,
    conversation: string,
    texts: readonly QueuedMessage[],
  ): Promise<boolean> {
    const kept = this.#guard(() => frontend.returnMessages?.(conversation, texts));
    if (kept === undefined) return false;
    try {
      return (await within(this.#clock, LONGEST_RETURN, kept)) ?? false;
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  #guard<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  #report(error: unknown): void {
    this.#logger.error('a front end failed', error);
  }
}
