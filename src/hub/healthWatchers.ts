// Reports changes of the link to other machines: to connections that asked for it, and within this process.
import { Coalescer } from '../base/async.ts';
import { type Clock } from '../base/clock.ts';
import { type Disposable } from '../base/disposable.ts';
import { type LinkHealth } from '../protocol/hub.ts';
import { type Connection } from './connection.ts';

/** Milliseconds between two updates; the user does not need more. */
const INTERVAL = 500;

export class HealthWatchers implements Disposable {
  readonly #connections = new Set<Connection>();
  readonly #updates: Coalescer<string>;

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

  /** Must be cheap, since it is called for each published record. */
  changed(): void {
    this.#updates.changed('');
  }

  dispose(): void {
    this.#updates.dispose();
    this.#connections.clear();
  }
}
