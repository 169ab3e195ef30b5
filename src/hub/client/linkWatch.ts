// Follows the state of the link to other machines, whichever process serves the hub.
import { ignore } from '../../base/async.ts';
import { type Disposable } from '../../base/disposable.ts';
import { Emitter, type Event } from '../../base/emitter.ts';
import { type LinkHealth, linkHealth } from '../../protocol/hub.ts';
import { type HubConnection } from './hubConnection.ts';

export const HEALTH_PUSH = 'notification.health';

export class LinkWatch implements Disposable {
  readonly #onDidChange: Emitter<void>;
  #health: LinkHealth | undefined;

  constructor(report: (error: unknown) => void) {
    this.#onDidChange = new Emitter(report);
  }

  /** Undefined: the hub is not joined with others, or its state is not known yet. */
  get health(): LinkHealth | undefined {
    return this.#health;
  }

  get onDidChange(): Event<void> {
    return this.#onDidChange.event;
  }

  /** Follows a hub that another process serves. */
  follow(connection: HubConnection): void {
    connection.call('health', { watch: true }).then(
      (health) => this.receive(health),
      // A hub of an older version cannot be watched.
      ignore,
    );
    connection.closed.then(() => this.set(undefined), ignore);
  }

  /** Takes the health from an answer or a push. */
  receive(health: unknown): void {
    this.set(linkHealth.safeParse(health).data);
  }

  set(health: LinkHealth | undefined): void {
    this.#health = health;
    this.#onDidChange.fire();
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }
}
