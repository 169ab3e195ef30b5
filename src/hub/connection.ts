// One client of the hub: its incoming and outgoing frames, its limits, and the session it is bound to; and the pushes to
// sessions.
import { type BatchAnswers, JsonRpcError, JsonRpcPeer, SERVER_ERROR } from '../base/json/jsonRpc.ts';
import { onlyReads } from '../protocol/hubMethods.ts';

export type ConnectionKind = 'unix' | 'webSocket';

/** A socket as the hub sees it. */
export interface Transport {
  readonly kind: ConnectionKind;
  /** Calls `accepted` once the kernel has accepted the frame, or with an error. */
  send(frame: string, accepted: (error?: Error) => void): void;
  /** Whether the kernel accepts nothing more at present, so that frames wait in this process. */
  isBlocked(): boolean;
  /** Stops or continues reading. */
  pause(): void;
  resume(): void;
  /** Ends the connection once everything sent has been accepted. */
  end(): void;
  /** Drops the connection at once. */
  destroy(): void;
}

/** Limit of pushes that the kernel has not accepted yet. */
const MOST_PUSHES = 256;
/** Reading pauses while this many requests are being handled. */
const MOST_REQUESTS = 256;
/** Limit of the characters of replies that a client has not read. */
const MOST_UNREAD = 16 * 1024 * 1024;

/** If the answers of a batch are longer than this, its further requests that read are refused. */
const LONGEST_BATCH = 4 * 1024 * 1024;
/** Requests that read wait while this many characters of replies are unread. */
const ENOUGH_UNREAD = 4 * 1024 * 1024;

export interface ConnectionDeps {
  /** Throws `JsonRpcError` if the request is not valid. */
  handle(connection: Connection, method: string, params: unknown): unknown;
  report(error: unknown): void;
  /** Called when the client has disconnected, or was dropped because it exceeded a limit. */
  onGone(connection: Connection): void;
}

export class Connection {
  readonly kind: ConnectionKind;
  /** The session this connection is bound to. */
  session: string | undefined;
  /** Agents that were registered over this connection. */
  readonly registered = new Set<string>();
  readonly #transport: Transport;
  readonly #deps: ConnectionDeps;
  readonly #peer: JsonRpcPeer;
  #changing = 0;
  #changed: Promise<unknown> = Promise.resolve();
  /** Set while a request that reads is under way. */
  #reading: Promise<void> | undefined;
  #drained: (() => void) | undefined;
  #pushes = 0;
  #unread = 0;
  #underWay = 0;
  #paused = false;
  #finishing = false;
  #gone = false;

  constructor(transport: Transport, deps: ConnectionDeps) {
    this.kind = transport.kind;
    this.#transport = transport;
    this.#deps = deps;
    this.#peer = new JsonRpcPeer({
      send: (frame) => this.#reply(frame),
      handle: (method, params, batch) =>
        this.#counted(this.#run(() => deps.handle(this, method, params), onlyReads(method), batch)),
      report: (error) => deps.report(error),
    });
  }

  /** Runs a method. A method that only reads waits for earlier requests of the same client. */
  #run(method: () => unknown, reads: boolean, batch?: BatchAnswers): unknown {
    if (reads) return this.#read(method, batch);
    const changing = Promise.resolve(method());
    this.#changing += 1;
    this.#changed = Promise.allSettled([this.#changed, changing]).then(() => {
      this.#changing -= 1;
    });
    return changing;
  }

  /** Reads one after the other, so that the cost of an answer is known before the next one is made. */
  #read(method: () => unknown, batch: BatchAnswers | undefined): unknown {
    const start = () => {
      if (this.#gone) throw new JsonRpcError(SERVER_ERROR, 'the connection has ended');
      if (batch === undefined || batch.length <= LONGEST_BATCH) return method();
      const limit = `the answers of this batch have more than ${LONGEST_BATCH} characters`;
      throw new JsonRpcError(SERVER_ERROR, `${limit}; send this request again in another batch`);
    };
    const changed = this.#changing === 0 ? undefined : this.#changed;
    const result =
      this.#reading === undefined && changed === undefined
        ? start()
        : Promise.all([this.#reading, changed]).then(start);
    if (!(result instanceof Promise)) return result;
    const answered = Promise.allSettled([result])
      .then(() => this.#settled())
      .then(() => {
        if (this.#reading === answered) this.#reading = undefined;
      });
    this.#reading = answered;
    return result;
  }

  /** Resolves once the last answer was printed, and the client has read most of what was sent. */
  async #settled(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#unread > ENOUGH_UNREAD && !this.#gone) await new Promise<void>((resolve) => (this.#drained = resolve));
  }

  receive(frame: string): void {
    this.#peer.receive(frame);
    if (!this.#paused && this.#underWay >= MOST_REQUESTS) {
      this.#paused = true;
      this.#transport.pause();
    }
  }

  /** False: the push cannot be sent. Calls `failed` if the write fails later. */
  push(frame: string, failed: () => void): boolean {
    if (this.#gone) return false;
    // The number alone is no reason: many pushes of one moment are written together.
    if (this.#pushes >= MOST_PUSHES && this.#transport.isBlocked()) {
      this.drop();
      return false;
    }
    this.#pushes += 1;
    this.#transport.send(frame, (error) => {
      this.#pushes -= 1;
      if (error === undefined) return;
      this.drop();
      failed();
    });
    return true;
  }

  /** Drops the connection. The session keeps its subscriptions. */
  drop(): void {
    if (this.#gone) return;
    this.gone();
    this.#transport.destroy();
  }

  /** The client sends nothing more. The connection ends once its requests are answered. */
  finish(): void {
    this.#finishing = true;
    if (this.#peer.handling === 0) this.#transport.end();
  }

  /** The transport has ended. */
  gone(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#drained?.();
    this.#peer.close('the connection has ended');
    this.#deps.onGone(this);
  }

  #reply(frame: string): void {
    if (this.#gone) return;
    this.#unread += frame.length;
    if (this.#unread > MOST_UNREAD) return this.drop();
    this.#transport.send(frame, (error) => {
      this.#unread -= frame.length;
      if (this.#unread <= ENOUGH_UNREAD) this.#drained?.();
      if (error !== undefined) this.drop();
      else if (this.#finishing && this.#peer.handling === 0) this.#transport.end();
    });
  }

  /** Counts requests, including those without a reply: a client that sends faster than the hub stores must wait. */
  #counted(result: unknown): unknown {
    if (!(result instanceof Promise)) return result;
    this.#underWay += 1;
    return result.finally(() => {
      this.#underWay -= 1;
      if (!this.#paused || this.#underWay >= MOST_REQUESTS / 2) return;
      this.#paused = false;
      this.#transport.resume();
    });
  }
}

/** Pushes to sessions: over the Unix connection, or over the WebSocket if there is none or the write fails. */
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
