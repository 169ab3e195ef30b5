// One connection to the server, from the check of the stream to its end: publishes, receives, claims names and beats.
import {
  AckPolicy,
  DeliverPolicy,
  type JetStreamClient,
  jetstream,
  type JetStreamManager,
  jetstreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { type NatsConnection, nanos, PermissionViolationError } from '@nats-io/transport-node';
import { type Clock } from '../../base/clock.ts';
import { type Disposable } from '../../base/disposable.ts';
import { isNoStream, isStreamFull, isTooLarge } from './apiErrors.ts';
import { Bucket } from './bucket.ts';
import { Inbox, type InboxDeps, mapMentions } from './inbox.ts';
import { RefusedError } from './natsConnection.ts';
import { type Outbox, type PublishResult } from './outbox.ts';
import { type OutboxItem } from './outboxFile.ts';
import { type Presence } from './presence.ts';
import { Publisher } from './publisher.ts';
import { checkStream, LOOK_BACK } from './streamCheck.ts';
import { bucketStream, consumerName, inboxPrefix, subjectOf } from './streamNames.ts';

const PUBLISH_TIMEOUT = 5000;
const ACK_WAIT = 30_000;
const LEAVE_TIMEOUT = 2000;
/** How often changes of presence are looked for after a reason to do so. The Agents view asks again before these are over. */
const LOOKS = 10;
/** How long a full stream is left alone. */
const FULL_RETRY = 5000;

export interface SessionDeps extends Omit<InboxDeps, 'isSent'> {
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly presence: Presence;
  /** Milliseconds between two beats. */
  readonly beatEvery: number;
  /** Milliseconds between two looks for changes of presence. */
  readonly lookEvery: number;
  /** Called once everything was checked and messages flow. */
  onConnected(): void;
  onFull(full: boolean): void;
  report(message: string, error?: unknown): void;
  /** The command that creates what is missing. */
  readonly setUp: string;
}

export class Session {
  readonly #deps: SessionDeps;
  readonly #connection: NatsConnection;
  readonly #ended = new AbortController();
  #client!: JetStreamClient;
  #manager!: JetStreamManager;
  #inbox!: Inbox;
  readonly #publisher: Publisher;
  #claiming: Promise<void> = Promise.resolve();
  #nextClaiming: Promise<void> | undefined;
  #denied: PermissionViolationError | undefined;
  /** Records that were published over this connection and did not come back yet. */
  readonly #sent = new Set<string>();
  /** How often changes of presence are still looked for before the next reason. */
  #looks = 0;

  constructor(connection: NatsConnection, deps: SessionDeps) {
    this.#connection = connection;
    this.#deps = deps;
    this.#publisher = new Publisher(connection, inboxPrefix(deps.machine), deps.clock, PUBLISH_TIMEOUT);
  }

  /** Runs until the connection is lost, something fails, or `end` is called. Rejects with what failed. */
  async run(): Promise<void> {
    const { presence, claims, outbox } = this.#deps;
    const { signal } = this.#ended;
    const watching = this.#watchErrors();
    const closed = this.#connection.closed().then((error) => {
      throw error instanceof Error ? error : new Error('the connection was lost');
    });
    // Whatever ends first ends the rest.
    const ending = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const work: Promise<unknown>[] = [];
    try {
      await Promise.race([this.#prepare(), closed, ending]);
      if (signal.aborted) return;
      this.#deps.onConnected();
      work.push(
        outbox.run((item, author) => this.#publish(item, author), signal),
        this.#inbox.run(this.#client, this.#manager, signal),
        this.#beat(),
      );
      await Promise.race([...work, closed, ending]);
    } catch (error) {
      throw this.#denied ?? error;
    } finally {
      const leaves = signal.aborted;
      this.#ended.abort();
      if (leaves) await this.#leave();
      this.#publisher.dispose();
      presence.use(undefined);
      claims.use(undefined);
      closed.catch(() => undefined);
      await this.#connection.close().catch(() => undefined);
      await Promise.allSettled([...work, watching]);
    }
  }

  /** The others need not wait until the beat expires; a hub that returns at once is not taken for another one. */
  async #leave(): Promise<void> {
    let timer: Disposable | undefined;
    const tooLong = new Promise<void>((resolve) => {
      timer = this.#deps.clock.after(LEAVE_TIMEOUT, resolve);
    });
    await Promise.race([this.#deps.presence.leave().catch(() => undefined), tooLong]);
    timer?.dispose();
  }

  end(): void {
    this.#ended.abort();
  }

  /** New agents claim their names, and those that are gone release theirs. */
  agentsChanged(): void {
    this.#updateClaims().catch((error: unknown) => {
      if (!this.#ended.signal.aborted) this.#deps.report('the names of agents could not be claimed', error);
    });
  }

  /** Counts here and on other machines are about to change, or somebody wants to know them: for a while changes do not wait for a beat. */
  followPresence(): void {
    this.#looks = LOOKS;
  }

  async #prepare(): Promise<void> {
    const { names, state, presence, claims, outbox, machine } = this.#deps;
    this.#manager = await jetstreamManager(this.#connection, { checkAPI: false, timeout: PUBLISH_TIMEOUT });
    this.#client = jetstream(this.#connection, { timeout: PUBLISH_TIMEOUT });
    const info = await this.#streamInfo(names.stream);
    for (const bucket of [names.agents, names.presence]) await this.#streamInfo(bucketStream(bucket));
    presence.use(await Bucket.open(this.#client, this.#manager, names.presence));
    await presence.beat();
    await presence.read();
    const found = { created: info.created, firstSeq: info.state.first_seq, lastSeq: info.state.last_seq };
    const missing = await checkStream(this.#manager, names.stream, found, state);
    if (missing > 0) this.#deps.report(`the server has lost ${missing} messages of this machine; they are sent again`);
    state.setChecked(this.#deps.clock.now(), this.#deps.clock.now() - LOOK_BACK);
    await outbox.load();
    claims.use(await Bucket.open(this.#client, this.#manager, names.agents));
    await this.#updateClaims();
    await this.#manager.consumers.add(names.stream, {
      durable_name: consumerName(machine),
      // What is received is received in order: one acknowledgement is for everything before it.
      ack_policy: AckPolicy.All,
      deliver_policy: DeliverPolicy.All,
      ack_wait: nanos(ACK_WAIT),
      max_ack_pending: 1000,
    });
    this.#inbox = new Inbox({ ...this.#deps, isSent: (event) => this.#sent.delete(event) });
  }

  async #streamInfo(stream: string): Promise<StreamInfo> {
    try {
      return await this.#manager.streams.info(stream);
    } catch (error) {
      if (!isNoStream(error)) throw error;
      throw new RefusedError(`the server has no stream ${stream}. An administrator must run ${this.#deps.setUp} once.`);
    }
  }

  /** Waits while the stream is full. Rejects for anything else, which ends the session. */
  async #publish(item: OutboxItem, author: string): Promise<PublishResult> {
    const { state, name, machine } = this.#deps;
    const known = await this.#publicNameOf(author);
    const { record } = item;
    const subject = subjectOf(name, machine, known, record);
    const data = this.#bodyOf(item);
    const most = this.#connection.info?.max_payload ?? 0;
    // A little is left for the headers.
    if (subject === undefined || (most > 0 && data.length > most - 512)) return this.#skip(author, data.length);
    const newest = state.position.seq;
    this.#sent.add(record.event_id);
    for (;;) {
      try {
        const { seq, duplicate } = await this.#publisher.publish(subject, data, record.event_id);
        this.#deps.onFull(false);
        // A number that was given before: the stream was made anew behind our back.
        if (!duplicate && seq <= newest) throw new Error('the stream was created anew');
        return { seq };
      } catch (error) {
        if (isTooLarge(error)) return this.#skip(author, data.length);
        if (!isStreamFull(error)) throw error;
        this.#deps.onFull(true);
        await this.#pause(Math.min(FULL_RETRY, this.#deps.beatEvery));
        if (this.#ended.signal.aborted) throw error;
      }
    }
  }

  #skip(author: string, length: number): 'skipped' {
    this.#deps.report(`a message of ${author} is too large for the server (${length} bytes) and stays on this machine`);
    return 'skipped';
  }

  async #publicNameOf(author: string): Promise<string> {
    const { claims } = this.#deps;
    for (;;) {
      const known = claims.publicNameOf(author);
      if (known !== undefined) return known;
      await this.#updateClaims();
      if (claims.publicNameOf(author) !== undefined) continue;
      await this.#pause(this.#deps.beatEvery);
      if (this.#ended.signal.aborted) throw new Error('the connection has ended');
    }
  }

  /** The line of the file; with the names that others use, where they differ. */
  #bodyOf({ record, bytes }: OutboxItem): Uint8Array {
    if (record.type !== 'message.create') return bytes;
    const refs = mapMentions(record.refs, (mention) => this.#deps.claims.toPublic(mention));
    if (refs.every(({ value }, index) => value === record.refs[index]?.value)) return bytes;
    return new TextEncoder().encode(JSON.stringify({ ...record, refs }));
  }

  /** What changes during a round is found by the next one, which all who ask meanwhile share. */
  #updateClaims(): Promise<void> {
    const { claims, presence } = this.#deps;
    this.#nextClaiming ??= this.#claiming
      .catch(() => undefined)
      .then(() => {
        this.#claiming = this.#nextClaiming ?? this.#claiming;
        this.#nextClaiming = undefined;
        return claims.update(presence.machines, presence.serverNow);
      });
    return this.#nextClaiming;
  }

  async #beat(): Promise<void> {
    const { presence, state, names, clock } = this.#deps;
    const { signal } = this.#ended;
    for (;;) {
      await this.#followUntilBeat();
      if (signal.aborted) return;
      await presence.beat();
      await presence.read();
      await this.#updateClaims();
      const info = await this.#streamInfo(names.stream);
      if (`${names.stream} ${info.created}` !== state.stream || info.state.last_seq < state.position.seq)
        throw new Error('the stream was created anew');
      // This connection never broke, so the server still has what it acknowledged on it.
      state.setChecked(clock.now(), clock.now() - LOOK_BACK);
    }
  }

  async #followUntilBeat(): Promise<void> {
    const { presence, beatEvery, lookEvery } = this.#deps;
    const due = this.#pause(beatEvery).then(() => 'due');
    while ((await Promise.race([due, this.#pause(lookEvery)])) !== 'due') {
      // A beat that begins after the end would stay behind.
      if (this.#ended.signal.aborted || this.#looks === 0) continue;
      this.#looks -= 1;
      await presence.beatIfChanged();
      await presence.read();
      await this.#updateClaims();
    }
  }

  /** The server reports what it does not permit apart from the request that failed. */
  async #watchErrors(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'error' && status.error instanceof PermissionViolationError) this.#denied ??= status.error;
    }
  }

  /** Resolves early when the session ends. */
  #pause(milliseconds: number): Promise<void> {
    const { signal } = this.#ended;
    return new Promise((resolve) => {
      const end = () => {
        timer.dispose();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.#deps.clock.after(milliseconds, end);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
  }
}
