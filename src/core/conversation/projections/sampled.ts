// Projects the last reported values of state that is sampled at delivery points: configuration and budget.
import { defined } from '../../../base/json/defined.ts';
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type RequestConfig, type SampledState } from '../../ports/producers.ts';

export class Sampled implements SampledState {
  #used: Partial<RequestConfig> = {};
  #reportedContext = 0;
  /** For each notification, the value that applies again if it is withdrawn. */
  readonly #reportedBefore = new Map<string, number>();
  #rateLimited: { readonly count: number; readonly since: string } | undefined;

  /** The configuration that the model knows, as far as the log says. */
  get used(): Partial<RequestConfig> {
    return this.#used;
  }

  /** The last reported context usage in percent; 0: none was reported since the last compaction. */
  get reportedContext(): number {
    return this.#reportedContext;
  }

  /** How often the endpoint has limited the rate since that was last reported. */
  get rateLimited(): { readonly count: number; readonly since: string } | undefined {
    return this.#rateLimited;
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'config_used': {
        const { model, mode, tools, servers = [], instructions, skills = [], folders, date, parent } = event;
        this.#used = {
          ...{ model, mode, tools, servers, instructions, skills },
          ...defined({ folders, date, parent }),
        };
        return;
      }
      case 'model_call':
        return this.#called(event);
      case 'compaction':
      case 'results_dropped':
        this.#reportedContext = 0;
        this.#reportedBefore.clear();
        return;
      case 'notification_queued':
        return this.#queued(event);
      case 'notification_withdrawn':
        for (const id of event.ids) this.#reportedContext = this.#reportedBefore.get(id) ?? this.#reportedContext;
        return;
      default:
        return;
    }
  }

  #called({ model, purpose, outcome, failure, timestamp }: EventOf<'model_call'>): void {
    if (purpose !== undefined) return;
    // Earlier versions logged the configuration only when it changed.
    if (outcome === 'succeeded' && this.#used.tools === undefined) this.#used = { ...this.#used, model };
    if (failure?.code !== 'rate_limited') return;
    const { count, since } = this.#rateLimited ?? { count: 0, since: timestamp };
    this.#rateLimited = { count: count + 1, since };
  }

  #queued({ notification: { id, kind, data } }: EventOf<'notification_queued'>): void {
    if (kind.source !== 'budget') return;
    if (kind.name === 'rate_limited') this.#rateLimited = undefined;
    const percent = data?.['percent'];
    if (kind.name !== 'context' || typeof percent !== 'number') return;
    this.#reportedBefore.set(id, this.#reportedContext);
    this.#reportedContext = percent;
  }
}
