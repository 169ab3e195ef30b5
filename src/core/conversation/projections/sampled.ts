// Decides what a conversation was last told of state that is compared at delivery points: its configuration and its budget.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type RequestConfig, type SampledState } from '../../ports/producers.ts';

export class Sampled implements SampledState {
  #used: Partial<RequestConfig> = {};
  #contextTold = 0;
  /** What to return to if it is taken back. */
  readonly #toldBefore = new Map<string, number>();
  #rateLimited: { readonly count: number; readonly since: string } | undefined;

  /** What the last request had, as far as the log says. */
  get used(): Partial<RequestConfig> {
    return this.#used;
  }

  /** How full it was said that the window is, in percent, since it was last made shorter; 0: nothing was said. */
  get contextTold(): number {
    return this.#contextTold;
  }

  /** How often the endpoint asked to slow down since that was last told. */
  get rateLimited(): { readonly count: number; readonly since: string } | undefined {
    return this.#rateLimited;
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'config_used': {
        const { model, mode, tools, instructions } = event;
        this.#used = { model, mode, tools, instructions };
        return;
      }
      case 'model_call':
        return this.#called(event);
      case 'compaction':
        this.#contextTold = 0;
        this.#toldBefore.clear();
        return;
      case 'notification_queued':
        return this.#queued(event);
      case 'notification_withdrawn':
        for (const id of event.ids) this.#contextTold = this.#toldBefore.get(id) ?? this.#contextTold;
        return;
      default:
        return;
    }
  }

  #called({ model, purpose, outcome, failure, timestamp }: EventOf<'model_call'>): void {
    if (purpose !== undefined) return;
    if (outcome === 'succeeded') this.#used = { ...this.#used, model };
    if (failure?.code !== 'rate_limited') return;
    const { count, since } = this.#rateLimited ?? { count: 0, since: timestamp };
    this.#rateLimited = { count: count + 1, since };
  }

  #queued({ notification: { id, kind, data } }: EventOf<'notification_queued'>): void {
    if (kind.source !== 'budget') return;
    if (kind.name === 'rate_limited') this.#rateLimited = undefined;
    const percent = data?.['percent'];
    if (kind.name !== 'context' || typeof percent !== 'number') return;
    this.#toldBefore.set(id, this.#contextTold);
    this.#contextTold = percent;
  }
}
