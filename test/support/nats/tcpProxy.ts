// A TCP proxy between a machine and its server that can cut, stall and delay the connection.
import { connect, createServer, type Server, type Socket } from 'node:net';

type Condition = 'open' | 'cut' | 'stalled';

export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: number;
  #condition: Condition = 'open';
  /** Milliseconds by which each chunk is delayed. */
  #delay = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Ends all connections and refuses new ones. */
  cut(): void {
    this.#condition = 'cut';
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Stops all data in both directions without closing a connection. */
  stall(): void {
    this.#condition = 'stalled';
    for (const socket of this.#sockets) socket.pause();
  }

  delay(milliseconds: number): void {
    this.#delay = milliseconds;
  }

  /** Lets stalled data pass. */
  open(): void {
    this.#condition = 'open';
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(near: Socket): void {
    if (this.#condition === 'cut') {
      near.destroy();
      return;
    }
    const far = connect(this.#target, '127.0.0.1');
    this.#pass(near, far);
    this.#pass(far, near);
  }

  #pass(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (chunk) => {
      if (this.#delay === 0) to.write(chunk);
      else setTimeout(() => to.write(chunk), this.#delay);
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    if (this.#condition === 'stalled') from.pause();
  }
}
