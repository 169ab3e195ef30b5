// Offers to deliver notifications to a model that may run only at the user's request. Offers it once until nothing is
// held back.
import { type HeldReason } from '../../protocol/webview.ts';

export interface WakeOfferDeps {
  /** Translates. */
  t(text: string, ...values: string[]): string;
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

  /** Called whenever the hold reason may have changed. */
  update(heldBack: HeldReason | undefined, model: string): void {
    const holds = heldBack === 'model';
    if (holds && !this.#offered) void this.#offer(model).catch(this.#deps.report);
    this.#offered = holds;
  }

  async #offer(model: string): Promise<void> {
    const { t } = this.#deps;
    const message = t('A notification is pending that would wake {0}, which may run only at your request.', model);
    const deliver = t('Deliver now');
    const chosen = await this.#deps.show(message, deliver);
    if (chosen === deliver) await this.#deps.deliver();
  }
}
