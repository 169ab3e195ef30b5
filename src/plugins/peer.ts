// The life of one connected plugin, whatever it is connected by: init, ready, requests, exit, shutdown.
import { type Disposable } from '../base/disposable.ts';
import { type HostMessageOf, PLUGIN_PROTOCOL, type PluginRequest } from '../protocol/plugin.ts';
import { type PluginCodec } from './codec.ts';
import { PluginConnection, type PluginTransport } from './connection.ts';
import { type PluginOutput } from './output.ts';
import { PluginSession, type SessionDeps } from './session.ts';

/** How a plugin ended. `failure`: it did not end by itself as it should. */
export interface PluginEnd {
  readonly code?: number;
  readonly reason?: string;
  readonly failure?: string;
}

export interface PeerDeps extends Omit<SessionDeps, 'connection'> {
  readonly transport: PluginTransport;
  readonly codec: PluginCodec;
  readonly init: HostMessageOf<'init'>;
  /** Called once: the plugin said `exit`, or must be ended. Nothing more is read from it. */
  ended(end: PluginEnd): void;
}

export class PluginPeer implements Disposable {
  readonly #deps: PeerDeps;
  readonly #connection: PluginConnection;
  readonly #session: PluginSession;
  #stopping = false;
  #ended = false;

  constructor(deps: PeerDeps) {
    this.#deps = deps;
    const { transport, codec } = deps;
    this.#connection = new PluginConnection({
      transport,
      codec,
      handle: (request) => this.#handle(request),
      broke: (failure) => {
        this.#connection.send({ type: 'error', request: '', message: failure });
        this.#end({ failure });
      },
    });
    this.#session = new PluginSession({ ...deps, connection: this.#connection });
    this.#connection.send(deps.init);
  }

  get output(): PluginOutput {
    return this.#deps.output;
  }

  receive(chunk: Uint8Array): void {
    if (!this.#ended) this.#connection.receive(chunk);
  }

  /** It sends nothing more. Without `exit` that is a failure, unless it was asked to end. */
  closed(how: string): void {
    this.#endAfterRequests(this.#stopping ? {} : { failure: how });
  }

  /** Asks it to end. Its requests are still answered. */
  shutDown(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#connection.send({ type: 'shutdown' });
  }

  /** Resolves once it has everything that was sent. */
  flushed(): Promise<void> {
    return this.#connection.outbox.flushed();
  }

  /** Bytes that wait for it. */
  get waiting(): number {
    return this.#connection.outbox.bytes;
  }

  dispose(): void {
    this.#session.dispose();
    this.#connection.close();
  }

  async #handle(request: PluginRequest): Promise<void> {
    if (this.#ended) return;
    switch (request.type) {
      case 'ready':
        if (request.protocol > PLUGIN_PROTOCOL) this.#refuse(describeNewer(request.protocol));
        return;
      case 'exit': {
        const { code, reason } = request;
        this.#endAfterRequests({ code, ...(reason !== undefined && { reason }) });
        return;
      }
      case 'describe': {
        const message = 'Nobody asked for a description.';
        this.#connection.send({ type: 'error', request: 'describe', message });
        return;
      }
      default:
        await this.#session.handle(request);
    }
  }

  /** What it printed or asked for just before is not lost. */
  #endAfterRequests(end: PluginEnd): void {
    const finish = () => this.#end(end);
    this.#session.finish().then(finish, finish);
  }

  #refuse(failure: string): void {
    this.#connection.send({ type: 'error', request: 'ready', message: failure });
    this.#end({ failure });
  }

  #end(end: PluginEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#session.dispose();
    this.#deps.ended(end);
  }
}

function describeNewer(protocol: number): string {
  return `It speaks protocol ${protocol}, and this Earshot speaks ${PLUGIN_PROTOCOL}. Update Earshot, or use an older version of the plugin.`;
}
