// Offers to tell a model that may be asked only on the user's own doing: a toast, once until it was told or is no longer held.
import { type HeldReason } from '../../protocol/webview.ts';

const TELL = 'Deliver now';

export interface WakeOfferDeps {
  /** Resolves with the action if the user chose it. */
  show(message: string, action: string): PromiseLike<string | undefined>;
  deliver(): Promise<void>;
  report(error: unknown): void;
}

export class WakeOffer {
  readonly #deps: WakeOfferDeps;
  #offered = false;

  constructor(deps: WakeOfferDeps) {
    this.#deps = deps;
  }

  /** Called with every change of what is held back. */
  update(heldBack: HeldReason | undefined, model: string): void {
    const holds = heldBack === 'model';
    if (holds && !this.#offered) void this.#offer(model).catch(this.#deps.report);
    this.#offered = holds;
  }

  async #offer(model: string): Promise<void> {
    const message = `Something happened that ${model} would be woken for. It may be asked only when you say so.`;
    const chosen = await this.#deps.show(message, TELL);
    if (chosen === TELL) await this.#deps.deliver();
  }
}
