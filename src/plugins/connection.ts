// One connected plugin's lines: splits and decodes what it sends, encodes and queues what it gets, and limits both.
import { LineSplitter } from '../base/json/jsonLines.ts';
import { maskKey } from '../core/conversation/key.ts';
import { type HostMessage, LONGEST_LINE, type PluginRequest } from '../protocol/plugin.ts';
import { type PluginCodec } from './codec.ts';
import { type LineOwner, Outbox, type OutboxSink } from './outbox.ts';

/** So many malformed lines in a row end a plugin. */
const MOST_MALFORMED = 20;
/** Requests that are handled at once, and bytes that wait for the plugin; beyond them nothing is read from it. */
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
  /** The plugin broke the rules of the framing and must be ended. */
  broke(reason: string): void;
}

export interface SendOptions {
  /** Counts the line until it is accepted, and may refuse it. */
  readonly owner?: LineOwner;
  /** The key of the conversation that the message is about. */
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
   * False: the owner does not take it. The key must be in nothing that a plugin receives, so it is masked in the finished
   * line.
   */
  send(message: HostMessage, { owner, key = '' }: SendOptions = {}): boolean {
    if (this.#outbox.isClosed) return true;
    const sent = this.#outbox.send(maskKey(this.#deps.codec.encode(message), key), owner);
    this.#checkFlow();
    return sent;
  }

  /** Resolves once a further request may be handled: a plugin that reads no replies gets no more of them. */
  async readyForRequest(): Promise<void> {
    if (!this.#noMoreRequests) await this.#outbox.room(MOST_WAITING);
  }

  /** The plugin sends nothing more: what it has sent is handled although it may read nothing. */
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
