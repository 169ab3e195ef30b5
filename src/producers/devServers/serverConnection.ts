// A connection to a dev server on this machine, as its pages have one. It only listens.
import { WebSocket } from 'ws';
import { type Disposable } from '../../base/disposable.ts';
import { type Clock } from '../../core/ports/ports.ts';
import { type BuildState, readServerMessage, type ServerKind } from './serverMessages.ts';

/** A server restarts with its configuration. */
const AGAIN = 2000;
/** Without a message in between: it is no dev server of this kind, or nobody may connect. */
const MOST_FAILURES = 5;
const LARGEST_MESSAGE = 4 * 1024 * 1024;
/** More than this within a minute is a flood: reading it would stall the editor. */
const MOST_A_MINUTE = 32 * 1024 * 1024;
const MINUTE = 60_000;

/** Vite checks a token only of pages, which send an origin; webpack refuses whoever sends none. */
const WAYS: Readonly<Record<ServerKind, { readonly paths: readonly string[]; readonly protocol?: string }>> = {
  vite: { paths: ['/'], protocol: 'vite-hmr' },
  webpack: { paths: ['/ws'] },
  next: { paths: ['/_next/hmr', '/_next/webpack-hmr'] },
};

export interface ServerAddress {
  readonly kind: ServerKind;
  readonly port: number;
}

interface Heard {
  state(state: BuildState): void;
  /** It sends too much; nothing more is read. */
  flood(): void;
}

export class ServerConnection implements Disposable {
  readonly #address: ServerAddress;
  readonly #clock: Clock;
  readonly #heard: Heard;
  #socket: WebSocket | undefined;
  #timer: Disposable | undefined;
  #failures = 0;
  #bytes = 0;
  #since: number;
  #isDisposed = false;

  constructor(address: ServerAddress, clock: Clock, heard: Heard) {
    this.#address = address;
    this.#clock = clock;
    this.#heard = heard;
    this.#since = clock.monotonic();
    this.#connect();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#socket?.terminate();
  }

  #connect(): void {
    const { kind, port } = this.#address;
    const { paths, protocol } = WAYS[kind];
    const socket = new WebSocket(
      `ws://localhost:${port}${paths[this.#failures % paths.length] ?? '/'}`,
      protocol ?? [],
      {
        maxPayload: LARGEST_MESSAGE,
        perMessageDeflate: false,
        ...(kind !== 'vite' && { origin: `http://localhost:${port}` }),
      },
    );
    this.#socket = socket;
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      this.#failures = 0;
      if (this.#isDisposed) return;
      if (this.#isFlood(data.length)) {
        this.dispose();
        return this.#heard.flood();
      }
      const state = isBinary ? undefined : readServerMessage(kind, data.toString());
      if (state !== undefined) this.#heard.state(state);
    });
    // `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#closed());
  }

  #isFlood(bytes: number): boolean {
    const now = this.#clock.monotonic();
    if (now - this.#since > MINUTE) [this.#bytes, this.#since] = [0, now];
    this.#bytes += bytes;
    return this.#bytes > MOST_A_MINUTE;
  }

  #closed(): void {
    this.#failures += 1;
    if (this.#isDisposed || this.#failures >= MOST_FAILURES) return;
    this.#timer = this.#clock.after(AGAIN, () => this.#connect());
  }
}
