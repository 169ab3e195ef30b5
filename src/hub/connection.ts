// One client of the hub: its frames in and out, its limits, and which session it is bound to.
import { JsonRpcPeer } from '../base/json/jsonRpc.ts';

export type ConnectionKind = 'unix' | 'webSocket';

/** A socket as the hub sees it. */
export interface Transport {
  readonly kind: ConnectionKind;
  /** `accepted` is called once the kernel has taken the frame, with an error if it has not. */
  send(frame: string, accepted: (error?: Error) => void): void;
  /** The kernel takes nothing more at the moment: what is sent waits in this process. */
  isBlocked(): boolean;
  /** Stops or continues reading. */
  pause(): void;
  resume(): void;
  /** Ends the connection once everything sent has been accepted. */
  end(): void;
  /** Drops the connection at once. */
  destroy(): void;
}

/** Pushes that the kernel has not accepted yet. */
const MOST_PUSHES = 256;
/** Requests that are being handled at once; beyond it nothing is read. */
const MOST_REQUESTS = 256;
/** Characters of replies that a client does not read. */
const MOST_UNREAD = 16 * 1024 * 1024;

export interface ConnectionDeps {
  handle(connection: Connection, method: string, params: unknown): unknown;
  report(error: unknown): void;
  /** It is gone, or it was dropped for its limits. */
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
      handle: (method, params) => this.#counted(deps.handle(this, method, params)),
      report: (error) => deps.report(error),
    });
  }

  /** Runs a method. One that only reads waits for the changes that this client asked for before it. */
  run(method: () => unknown, reads: boolean): unknown {
    if (reads) return this.#changing === 0 ? method() : this.#changed.then(method);
    const changing = Promise.resolve(method());
    this.#changing += 1;
    this.#changed = Promise.allSettled([this.#changed, changing]).then(() => {
      this.#changing -= 1;
    });
    return changing;
  }

  receive(frame: string): void {
    this.#peer.receive(frame);
    if (!this.#paused && this.#underWay >= MOST_REQUESTS) {
      this.#paused = true;
      this.#transport.pause();
    }
  }

  /** Returns false if it cannot be sent now. `failed` is called if the write fails later. */
  push(frame: string, failed: () => void): boolean {
    if (this.#gone) return false;
    // Those of one moment are given to the kernel together, however many they are.
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

  /** Ends the connection; its session keeps its subscriptions. */
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
    this.#peer.close('the connection has ended');
    this.#deps.onGone(this);
  }

  #reply(frame: string): void {
    if (this.#gone) return;
    this.#unread += frame.length;
    if (this.#unread > MOST_UNREAD) return this.drop();
    this.#transport.send(frame, (error) => {
      this.#unread -= frame.length;
      if (error !== undefined) this.drop();
      else if (this.#finishing && this.#peer.handling === 0) this.#transport.end();
    });
  }

  /** Also those that get no reply: a client that sends faster than they are stored must wait. */
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
