// Projects the conversation's name on each hub, and the cursor up to which its messages are in the log.
import { type LogEvent } from '../../../protocol/event.ts';
import { type HubPlace } from '../../ports/agentHub.ts';

export class HubAgents {
  readonly #places = new Map<string, HubPlace>();
  #name: string | undefined;

  /** The name it was given last. */
  get name(): string | undefined {
    return this.#name;
  }

  /** All names it has, each once. */
  get names(): ReadonlySet<string> {
    return new Set([...this.#places.values()].map(({ name }) => name));
  }

  /** Undefined: it has not been on this hub. */
  place(hub: string): HubPlace | undefined {
    return this.#places.get(hub);
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'hub_agent': {
        const { hub, name, cursor } = event;
        this.#places.set(hub, { name, cursor });
        this.#name = name;
        return;
      }
      case 'notification_queued': {
        const { hub, cursor } = event.notification.data ?? {};
        const place = typeof hub === 'string' ? this.#places.get(hub) : undefined;
        if (place === undefined || typeof hub !== 'string' || typeof cursor !== 'string') return;
        this.#places.set(hub, { ...place, cursor });
        return;
      }
      case 'forked':
        // The name stays with the original.
        this.#places.clear();
        this.#name = undefined;
        return;
      default:
        return;
    }
  }
}
