// Pushes to sessions: over the Unix connection, or over the WebSocket if there is none or the write fails.
import { type Connection, type ConnectionKind } from './connection.ts';

export class Pushes {
  readonly #bound = new Map<string, Partial<Record<ConnectionKind, Connection>>>();

  /** An older connection of the same kind loses its binding, but stays open. */
  bind(connection: Connection, session: string): void {
    this.unbind(connection);
    const own = this.#bound.get(session) ?? {};
    const before = own[connection.kind];
    if (before !== undefined) before.session = undefined;
    this.#bound.set(session, { ...own, [connection.kind]: connection });
    connection.session = session;
  }

  unbind(connection: Connection): void {
    const { session, kind } = connection;
    connection.session = undefined;
    const own = session === undefined ? undefined : this.#bound.get(session);
    if (session === undefined || own?.[kind] !== connection) return;
    const other = kind === 'unix' ? 'webSocket' : 'unix';
    const left = own[other];
    if (left === undefined) this.#bound.delete(session);
    else this.#bound.set(session, { [other]: left });
  }

  /** The session has ended. */
  release(session: string): void {
    const own = this.#bound.get(session) ?? {};
    for (const connection of [own.unix, own.webSocket]) if (connection !== undefined) connection.session = undefined;
    this.#bound.delete(session);
  }

  isLive(session: string): boolean {
    return this.#bound.has(session);
  }

  isBoundTo(session: string, connection: Connection): boolean {
    return this.#bound.get(session)?.[connection.kind] === connection;
  }

  /** Does nothing for a session without a connection; its client reads missed messages with `message.list`. */
  push(session: string, frame: string): void {
    const { unix, webSocket } = this.#bound.get(session) ?? {};
    const fallBack = () => void webSocket?.push(frame, () => undefined);
    if (unix?.push(frame, fallBack) !== true) fallBack();
  }
}
