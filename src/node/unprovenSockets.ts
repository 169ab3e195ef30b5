// Bounds the connections to a listener that have not shown its token: by number and by time.
import { type Socket } from 'node:net';

/** Of more connections than this, the oldest is closed: a client with the token sends it at once. */
const MOST_UNPROVEN = 64;
const PROVEN_WITHIN = 5000;

export class UnprovenSockets {
  readonly #sockets = new Map<Socket, NodeJS.Timeout>();
  readonly #refuse: (reason: string) => string;

  /** `refuse` returns what a connection is sent before it is closed. */
  constructor(refuse: (reason: string) => string) {
    this.#refuse = refuse;
  }

  add(socket: Socket): void {
    const timer = setTimeout(() => this.#end(socket, `no token within ${PROVEN_WITHIN / 1000} seconds`), PROVEN_WITHIN);
    timer.unref();
    this.#sockets.set(socket, timer);
    socket.once('close', () => this.proven(socket));
    const [oldest] = this.#sockets.keys();
    if (this.#sockets.size > MOST_UNPROVEN && oldest !== undefined)
      this.#end(oldest, `more than ${MOST_UNPROVEN} connections without a token`);
  }

  /** The client has shown the token, or is gone. */
  proven(socket: Socket): void {
    clearTimeout(this.#sockets.get(socket));
    this.#sockets.delete(socket);
  }

  #end(socket: Socket, reason: string): void {
    this.proven(socket);
    // Destroyed once it is written, since a client that keeps its half open would keep the descriptor.
    if (socket.writable) socket.end(this.#refuse(reason), () => socket.destroy());
    else socket.destroy();
  }
}
