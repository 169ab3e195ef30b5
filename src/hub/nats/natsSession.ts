// One connection to the server: checks the stream, then publishes, receives, claims names and sends heartbeats until it
// ends.
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
import { aborted, coalesce, ignore, pause, within } from '../../base/async.ts';
import { type Clock } from '../../base/clock.ts';
import { isNoStream, isStreamFull, isTooLarge } from './apiErrors.ts';
import { Bucket } from './bucket.ts';
import { Inbox, type InboxDeps, mapMentions, toNanos } from './inbox.ts';
import { RefusedError } from './natsConnection.ts';
import { type Outbox, type PublishResult } from './outbox.ts';
import { type OutboxItem } from './outboxFile.ts';
import { type Presence } from './presence.ts';
import { Publisher } from './publisher.ts';
import { bucketStream, consumerName, inboxPrefix, subjectOf } from './streamNames.ts';
import { type LinkState } from './linkState.ts';

const PUBLISH_TIMEOUT = 5000;
const ACK_WAIT = 30_000;
const LEAVE_TIMEOUT = 2000;
/** The number of presence checks after each trigger. The Agents view triggers them again before they are used up. */
const PRESENCE_CHECKS = 10;
/** How long to wait before publishing to a full stream again. */
const FULL_RETRY = 5000;

export interface NatsSessionDeps extends Omit<InboxDeps, 'isSent'> {
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly presence: Presence;
  /** Milliseconds between two heartbeats. */
  readonly beatEvery: number;
  /** Milliseconds between two checks for changes of presence. */
  readonly lookEvery: number;
  /** Called once the stream was checked and messages can be sent and received. */
  onConnected(): void;
  onFull(full: boolean): void;
  report(message: string, error?: unknown): void;
  /** The command that creates the stream and the buckets. */
  readonly setUp: string;
}

export class NatsSession {
  readonly #deps: NatsSessionDeps;
  readonly #connection: NatsConnection;
  readonly #ended = new AbortController();
  #client!: JetStreamClient;
  #manager!: JetStreamManager;
  #inbox!: Inbox;
  readonly #publisher: Publisher;
  readonly #updateClaims: () => Promise<void>;
  #denied: PermissionViolationError | undefined;
  /** Records that were published over this connection and were not received back yet. */
  readonly #sent = new Set<string>();
  /** The number of presence checks that are left until the next trigger. */
  #checksLeft = 0;

  constructor(connection: NatsConnection, deps: NatsSessionDeps) {
    this.#connection = connection;
    this.#deps = deps;
    this.#publisher = new Publisher(connection, inboxPrefix(deps.machine), deps.clock, PUBLISH_TIMEOUT);
    const { claims, presence } = deps;
    this.#updateClaims = coalesce(() => claims.update(presence.machines, presence.serverNow));
  }

  /** Runs until the connection is lost, something fails, or `end` is called. Rejects with what failed. */
  async run(): Promise<void> {
    const { presence, claims, outbox } = this.#deps;
    const { signal } = this.#ended;
    const watching = this.#watchErrors();
    const closed = this.#connection.closed().then((error) => {
      throw error instanceof Error ? error : new Error('the connection was lost');
    });
    // The first of them that ends also ends the others.
    const ending = aborted(signal);
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
      closed.catch(ignore);
      await this.#connection.close().catch(ignore);
      await Promise.allSettled([...work, watching]);
    }
  }

  /** Removes the heartbeat: other machines need not wait until it expires, and a restarted hub is not refused. */
  async #leave(): Promise<void> {
    const { clock, presence } = this.#deps;
    await within(clock, LEAVE_TIMEOUT, presence.leave().catch(ignore));
  }

  end(): void {
    this.#ended.abort();
  }

  /** Claims names for new agents and releases those of removed agents. */
  agentsChanged(): void {
    this.#updateClaims().catch((error: unknown) => {
      if (!this.#ended.signal.aborted) this.#deps.report('the names of agents could not be claimed', error);
    });
  }

  /** For a while, checks presence more often than with each heartbeat: counts may change, or are being shown. */
  followPresence(): void {
    this.#checksLeft = PRESENCE_CHECKS;
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
      // Records are received in order, so one acknowledgement includes all earlier ones.
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

  /** Waits while the stream is full. Rejects for any other failure, which ends the session. */
  async #publish(item: OutboxItem, author: string): Promise<PublishResult> {
    const { state, name, machine } = this.#deps;
    const known = await this.#publicNameOf(author);
    const { record } = item;
    const subject = subjectOf(name, machine, known, record);
    const data = this.#bodyOf(item);
    const most = this.#connection.info?.max_payload ?? 0;
    // Leaves room for the headers.
    if (subject === undefined || (most > 0 && data.length > most - 512)) return this.#skip(author, data.length);
    const newest = state.position.seq;
    this.#sent.add(record.event_id);
    for (;;) {
      try {
        const { seq, duplicate } = await this.#publisher.publish(subject, data, record.event_id);
        this.#deps.onFull(false);
        // The server has assigned this sequence before, so the stream was created again meanwhile.
        if (!duplicate && seq <= newest) throw new Error('the stream was created again');
        return { seq };
      } catch (error) {
        if (isTooLarge(error)) return this.#skip(author, data.length);
        if (!isStreamFull(error)) throw error;
        this.#deps.onFull(true);
        await pause(this.#deps.clock, Math.min(FULL_RETRY, this.#deps.beatEvery), this.#ended.signal);
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
      await pause(this.#deps.clock, this.#deps.beatEvery, this.#ended.signal);
      if (this.#ended.signal.aborted) throw new Error('the connection has ended');
    }
  }

  /** The line of the file, with public names in its mentions where they differ. */
  #bodyOf({ record, bytes }: OutboxItem): Uint8Array {
    if (record.type !== 'message.create') return bytes;
    const refs = mapMentions(record.refs, (mention) => this.#deps.claims.toPublic(mention));
    if (refs.every(({ value }, index) => value === record.refs[index]?.value)) return bytes;
    return new TextEncoder().encode(JSON.stringify({ ...record, refs }));
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
        throw new Error('the stream was created again');
      // The connection has not broken, so the server still has everything that it acknowledged over it.
      state.setChecked(clock.now(), clock.now() - LOOK_BACK);
    }
  }

  async #followUntilBeat(): Promise<void> {
    const { presence, clock, beatEvery, lookEvery } = this.#deps;
    const { signal } = this.#ended;
    const due = pause(clock, beatEvery, signal).then(() => 'due');
    while ((await Promise.race([due, pause(clock, lookEvery, signal)])) !== 'due') {
      // A heartbeat that is sent after the end of the session would stay on the server.
      if (signal.aborted || this.#checksLeft === 0) continue;
      this.#checksLeft -= 1;
      await presence.beatIfChanged();
      await presence.read();
      await this.#updateClaims();
    }
  }

  /** The server reports permission errors separately from the request that failed. */
  async #watchErrors(): Promise<void> {
    for await (const status of this.#connection.status()) {
      if (status.type === 'error' && status.error instanceof PermissionViolationError) this.#denied ??= status.error;
    }
  }
}

/** Records that were published longer than this before the last check are on the server's disk. */
const LOOK_BACK = 10 * 60_000;
const AT_ONCE = 64;

interface StreamState {
  readonly created: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/**
 * Resets the state so that lost records are published and received again. Returns the number of missing records. Servers
 * before 2.12 acknowledge records before they are on disk, so a killed server may lose the end of the stream.
 */
export async function checkStream(
  manager: JetStreamManager,
  stream: string,
  found: StreamState,
  state: LinkState,
): Promise<number> {
  const identity = `${stream} ${found.created}`;
  if (state.stream !== identity) {
    state.startOver(identity);
    return 0;
  }
  await checkReceivedPart(manager, stream, found, state);
  return checkPublished(manager, stream, found, state);
}

/** A stream only grows: if the last received message is unchanged, all earlier ones are too. */
async function checkReceivedPart(
  manager: JetStreamManager,
  stream: string,
  { firstSeq, lastSeq }: StreamState,
  state: LinkState,
): Promise<void> {
  const { seq, time } = state.position;
  if (seq === 0) return;
  const message = seq <= lastSeq ? await manager.streams.getMessage(stream, { seq }) : null;
  const wasRemoved = message === null && seq < firstSeq;
  if (wasRemoved || (message !== null && toNanos(message.timestamp) === time)) return;
  // Receives everything again; known records are not stored twice.
  state.setPosition({ seq: 0, time: 0 });
}

async function checkPublished(
  manager: JetStreamManager,
  stream: string,
  { firstSeq }: StreamState,
  state: LinkState,
): Promise<number> {
  // An administrator removed the records before the first sequence.
  const published = state.recentlyPublished(state.checkedAt - LOOK_BACK).filter(({ seq }) => seq >= firstSeq);
  let missing = 0;
  for (let at = 0; at < published.length; at += AT_ONCE) {
    const part = published.slice(at, at + AT_ONCE);
    const found = await Promise.all(part.map(({ seq }) => manager.streams.getMessage(stream, { seq })));
    for (const [index, one] of part.entries()) {
      if (found[index]?.header.get('Nats-Msg-Id') === one.event) continue;
      missing += 1;
      state.forget(one.seq);
      // Publishes all later records of the author again too, so that their order is kept.
      if (one.start < state.sent(one.author)) state.setSent(one.author, one.start);
    }
  }
  return missing;
}
