// The life cycle of one connected plugin, over any transport: init, ready, requests, exit, shutdown.
import { type Disposable } from '../base/disposable.ts';
import { defined } from '../base/json/defined.ts';
import { type HostMessageOf, PLUGIN_PROTOCOL, type PluginRequest } from '../protocol/plugin.ts';
import { type PluginCodec } from './codec.ts';
import { PluginConnection, type PluginTransport } from './connection.ts';
import { type PluginOutput } from './output.ts';
import { ConnectedPlugin, type SessionDeps } from './connectedPlugin.ts';

/** How a plugin ended. `failure` is set if it did not end properly with `exit`. */
export interface PluginEnd {
  readonly code?: number;
  readonly reason?: string;
  readonly failure?: string;
}

export interface PeerDeps extends Omit<SessionDeps, 'connection'> {
  readonly transport: PluginTransport;
  readonly codec: PluginCodec;
  readonly init: HostMessageOf<'init'>;
  /** Called once when the plugin sent `exit`, closed, or must be ended. Nothing more is read from it. */
  ended(end: PluginEnd): void;
}

export class PluginPeer implements Disposable {
  readonly #deps: PeerDeps;
  readonly #connection: PluginConnection;
  readonly #session: ConnectedPlugin;
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
    this.#session = new ConnectedPlugin({ ...deps, connection: this.#connection });
    this.#connection.send(deps.init);
  }

  get output(): PluginOutput {
    return this.#deps.output;
  }

  receive(chunk: Uint8Array): void {
    if (!this.#ended) this.#connection.receive(chunk);
  }

  /** The plugin sends nothing more. Without `exit` that is a failure, unless it was asked to end. */
  closed(how: string): void {
    this.#endAfterRequests(this.#stopping ? {} : { failure: how });
  }

  /** Asks the plugin to end. Its requests are still answered. */
  shutDown(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#connection.send({ type: 'shutdown' });
  }

  /** Resolves once the kernel has accepted everything that was sent. */
  flushed(): Promise<void> {
    return this.#connection.outbox.flushed();
  }

  /** Bytes that wait to be sent. */
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
        this.#endAfterRequests({ code, ...defined({ reason }) });
        return;
      }
      case 'describe': {
        const message = 'No description was requested.';
        this.#connection.send({ type: 'error', request: 'describe', message });
        return;
      }
      default:
        await this.#session.handle(request);
    }
  }

  /** Handles the requests that were sent before the end first. */
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
