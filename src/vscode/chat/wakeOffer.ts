// Offers to deliver notifications to a model that may run only at the user's request. Offers it once until nothing is
// held back, and withdraws the offer then.
import { type Disposable } from '../../base/disposable.ts';
import { type HeldReason } from '../../protocol/webview.ts';

/** As in `passingMessage.ts`, which needs an editor. */
export interface ShownOffer {
  readonly text: string;
  readonly action: string;
  readonly gone: AbortSignal;
}

export interface WakeOfferDeps {
  /** Translates. */
  t(text: string, ...values: string[]): string;
  /** Resolves to whether the user chose the action. */
  show(offer: ShownOffer): Promise<boolean>;
  deliver(): Promise<void>;
  report(error: unknown): void;
}

export class WakeOffer implements Disposable {
  readonly #deps: WakeOfferDeps;
  /** Aborted when nothing is held back any more; undefined: nothing is. */
  #held: AbortController | undefined;

  constructor(deps: WakeOfferDeps) {
    this.#deps = deps;
  }

  /** Called whenever the hold reason may have changed. */
  update(heldBack: HeldReason | undefined, model: string): void {
    const holds = heldBack === 'model';
    if (!holds) this.dispose();
    else if (this.#held === undefined) {
      this.#held = new AbortController();
      void this.#offer(model, this.#held.signal).catch(this.#deps.report);
    }
  }

  dispose(): void {
    this.#held?.abort();
    this.#held = undefined;
  }

  async #offer(model: string, gone: AbortSignal): Promise<void> {
    const { t } = this.#deps;
    const text = t('A notification is pending that would wake {0}, which may run only at your request.', model);
    if (await this.#deps.show({ text, action: t('Deliver now'), gone })) await this.#deps.deliver();
  }
}
