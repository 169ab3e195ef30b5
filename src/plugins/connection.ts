// The lines of one connected plugin: splits and decodes incoming lines, encodes and queues outgoing ones, limits both.
import { LineSplitter } from '../base/json/jsonLines.ts';
import { maskKey } from '../core/conversation/key.ts';
import { type HostMessage, LONGEST_LINE, type PluginRequest } from '../protocol/plugin.ts';
import { type PluginCodec } from './codec.ts';
import { type LineOwner, Outbox, type OutboxSink } from './outbox.ts';

/** A plugin is ended after this many malformed lines in a row. */
const MOST_MALFORMED = 20;
/** Reading pauses while this many requests are being handled, or more than this many bytes wait for the plugin. */
const MOST_HANDLED = 256;
const MOST_WAITING = 16 * 1024 * 1024;

export interface PluginTransport extends OutboxSink {
  /** Stops or continues reading. */
  pause(): void;
  resume(): void;
}

export interface ConnectionDeps<Request = PluginRequest> {
  readonly transport: PluginTransport;
  readonly codec: PluginCodec<Request>;
  /** Resolves once the request is handled. Must not reject. */
  handle(request: Request): Promise<void>;
  /** Called when the plugin violated the line format and must be ended. */
  broke(reason: string): void;
}

export interface SendOptions {
  /** Counts the line until the kernel has accepted it, and may refuse it. */
  readonly owner?: LineOwner;
  /** The key of the conversation that the message is about, to be masked. */
  readonly key?: string;
}

export class PluginConnection<Request = PluginRequest> {
  readonly #deps: ConnectionDeps<Request>;
  readonly #outbox: Outbox;
  readonly #lines: LineSplitter;
  #malformed = 0;
  #handling = 0;
  #paused = false;
  #noMoreRequests = false;

  constructor(deps: ConnectionDeps<Request>) {
    this.#deps = deps;
    this.#outbox = new Outbox(deps.transport, () => this.#checkFlow());
    this.#lines = new LineSplitter(LONGEST_LINE, {
      onLine: (line) => this.#received(line),
      onTooLong: () => deps.broke('It sent a line longer than 8 MiB.'),
    });
  }

  get outbox(): Pick<Outbox, 'room' | 'takesPartials' | 'bytes' | 'flushed'> {
    return this.#outbox;
  }

  receive(chunk: Uint8Array): void {
    this.#lines.write(chunk);
  }

  /**
   * False: the owner refuses it. A plugin must never receive the key, so it is masked in the finished line.
   */
  send(message: HostMessage, { owner, key = '' }: SendOptions = {}): boolean {
    if (this.#outbox.isClosed) return true;
    const sent = this.#outbox.send(maskKey(this.#deps.codec.encode(message), key), owner);
    this.#checkFlow();
    return sent;
  }

  /** Resolves once the next request may be handled: a plugin that does not read its replies has to wait. */
  async readyForRequest(): Promise<void> {
    if (!this.#noMoreRequests) await this.#outbox.room(MOST_WAITING);
  }

  /** The plugin sends nothing more. Its remaining requests are handled even if it does not read the replies. */
  finishRequests(): void {
    this.#noMoreRequests = true;
    this.#outbox.makeRoom(MOST_WAITING);
  }

  close(): void {
    this.#lines.end();
    this.#outbox.close();
  }

  #received(line: string | undefined): void {
    if (line !== undefined && line.trim() === '') return;
    const decoded = this.#deps.codec.decode(line);
    if (!decoded.ok) {
      const { ok: _, ...error } = decoded;
      this.send({ type: 'error', ...error });
      this.#malformed += 1;
      if (this.#malformed >= MOST_MALFORMED) this.#stop(`It sent ${MOST_MALFORMED} malformed lines in a row.`);
      return;
    }
    this.#malformed = 0;
    this.#handling += 1;
    const done = () => {
      this.#handling -= 1;
      this.#checkFlow();
    };
    this.#deps.handle(decoded.request).then(done, done);
    this.#checkFlow();
  }

  #stop(reason: string): void {
    this.#lines.end();
    this.#deps.broke(reason);
  }

  #checkFlow(): void {
    const { bytes } = this.#outbox;
    if (!this.#paused && (this.#handling >= MOST_HANDLED || bytes > MOST_WAITING)) {
      this.#paused = true;
      this.#deps.transport.pause();
    } else if (this.#paused && this.#handling < MOST_HANDLED / 2 && bytes < MOST_WAITING / 2) {
      this.#paused = false;
      this.#deps.transport.resume();
    }
  }
}
