// Who wants to know when the state of the server that joins machines changes: connections that asked for it, and this process itself.
import { type Clock } from '../base/clock.ts';
import { type Disposable } from '../base/disposable.ts';
import { type LinkHealth } from '../protocol/hub.ts';
import { Coalescer } from './coalescer.ts';
import { type Connection } from './connection.ts';

/** People read it: more often does not help. */
const INTERVAL = 500;

export class HealthWatchers implements Disposable {
  readonly #connections = new Set<Connection>();
  readonly #updates: Coalescer;

  constructor(clock: Clock, read: () => LinkHealth | undefined, inProcess?: (health: LinkHealth | undefined) => void) {
    this.#updates = new Coalescer(clock, INTERVAL, () => {
      const health = read();
      inProcess?.(health);
      if (this.#connections.size === 0) return;
      const frame = JSON.stringify({ jsonrpc: '2.0', method: 'notification.health', params: health });
      for (const connection of this.#connections) connection.push(frame, () => undefined);
    });
  }

  set(connection: Connection, watches: boolean): void {
    if (watches) this.#connections.add(connection);
    else this.#connections.delete(connection);
  }

  /** Cheap: it is called for each record that is published. */
  changed(): void {
    this.#updates.changed('');
  }

  dispose(): void {
    this.#updates.dispose();
    this.#connections.clear();
  }
}
