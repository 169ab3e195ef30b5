// Publishes records to the stream over one connection and waits for their acknowledgements. Records that several
// authors publish at the same time are sent in one write, and their acknowledgements come back together, since separate
// writes would cost more than everything else.
import { JetStreamApiError } from '@nats-io/jetstream';
import { createInbox, headers, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { parseObject } from '../../base/json/outsideJson.ts';

const NO_RESPONDERS = 503;

export interface Acknowledged {
  readonly seq: number;
  /** Whether the stream already had this record. */
  readonly duplicate: boolean;
}

interface Waiting {
  readonly subject: string;
  readonly data: Uint8Array;
  /** The `Nats-Msg-Id`. */
  readonly id: string;
  /** When it was published, by the monotonic clock, since the machine's clock may jump. */
  readonly since: number;
  resolve(acknowledged: Acknowledged): void;
  reject(error: Error): void;
}

export class Publisher implements Disposable {
  readonly #connection: NatsConnection;
  readonly #clock: Clock;
  readonly #timeout: number;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  /** Records without an acknowledgement, oldest first. The key is the last token of their reply subject. */
  readonly #waiting = new Map<string, Waiting>();
  #next = 0;
  #unsent: string[] = [];
  #timer: Disposable | undefined;
  #ended: Error | undefined;

  /** `timeout`: how many milliseconds an acknowledgement may take. */
  constructor(connection: NatsConnection, inboxPrefix: string, clock: Clock, timeout: number) {
    this.#connection = connection;
    this.#clock = clock;
    this.#timeout = timeout;
    this.#inbox = createInbox(inboxPrefix);
    this.#subscription = connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => {
        if (error !== null) this.#end(error);
        else this.#receive(message);
      },
    });
  }

  /** Rejects with `JetStreamApiError` if the stream refuses the record. */
  publish(subject: string, data: Uint8Array, id: string): Promise<Acknowledged> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const token = String(this.#next++);
      this.#waiting.set(token, { subject, data, id, since: performance.now(), resolve, reject });
      if (this.#unsent.push(token) === 1) setImmediate(() => this.#flush());
      this.#timer ??= this.#clock.after(this.#timeout, () => this.#checkTime());
    });
  }

  dispose(): void {
    this.#end(new Error('the connection has ended'));
    this.#subscription.unsubscribe();
  }

  /** Publishes all in one tick, since the client sends the messages of one tick in one write. */
  #flush(): void {
    const tokens = this.#unsent;
    this.#unsent = [];
    try {
      for (const token of tokens) {
        const waiting = this.#waiting.get(token);
        if (waiting === undefined) continue;
        const head = headers();
        head.set('Nats-Msg-Id', waiting.id);
        this.#connection.publish(waiting.subject, waiting.data, { reply: `${this.#inbox}.${token}`, headers: head });
      }
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #receive(message: Msg): void {
    const token = message.subject.slice(this.#inbox.length + 1);
    const waiting = this.#waiting.get(token);
    if (waiting === undefined) return;
    this.#waiting.delete(token);
    if (message.headers?.code === NO_RESPONDERS) {
      waiting.reject(new Error('no stream accepts the messages'));
      return;
    }
    const answer = parseObject(message.string()) ?? {};
    const { error, seq, duplicate } = answer as { error?: ApiError; seq?: unknown; duplicate?: unknown };
    if (error !== undefined) waiting.reject(new JetStreamApiError(error));
    else if (typeof seq === 'number') waiting.resolve({ seq, duplicate: duplicate === true });
    else waiting.reject(new Error('the server sent an unknown acknowledgement'));
  }

  /** Checks only the oldest record, which has waited longest. */
  #checkTime(): void {
    this.#timer = undefined;
    const [oldest] = this.#waiting.values();
    if (oldest === undefined) return;
    const left = oldest.since + this.#timeout - performance.now();
    if (left > 0) this.#timer = this.#clock.after(left, () => this.#checkTime());
    else this.#end(new Error('the server did not acknowledge a message in time'));
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#timer?.dispose();
    this.#timer = undefined;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

type ApiError = ConstructorParameters<typeof JetStreamApiError>[0];
