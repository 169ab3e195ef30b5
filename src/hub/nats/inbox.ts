// Receives the stream in order and without gaps. Stores each record once, then acknowledges it.
//
// The durable consumer delivers new records, but not always in order: records that were sent over a lost connection are
// delivered again later. So a gap in the stream's sequence is filled by reading the stream directly, and repeated
// records are recognized by their event_id.
import { type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import { ignore } from '../../base/async.ts';
import { type MessageRecord, type Pair } from '../../protocol/hub.ts';
import { type HubSide } from '../hubLink.ts';
import { type Claims } from './claims.ts';
import { type LinkState } from './linkState.ts';
import { checkReceived, claimAgainst } from './receivedRecord.ts';
import { consumerName, parseSubject, type StreamNames } from './streamNames.ts';

const MOST_PULLED = 200;
/** Limit of records that are being stored. */
const MOST_STORING = 256;
const FILLED_AT_ONCE = 64;
/** How many refused records are reported. */
const MOST_REPORTED = 20;

interface StreamMessage {
  readonly seq: number;
  readonly subject: string;
  readonly id: string;
  /** Nanoseconds since 1970 by the server's clock. */
  readonly time: number;
  readonly data: Uint8Array;
}

export interface InboxDeps {
  readonly name: string;
  readonly machine: string;
  readonly names: StreamNames;
  readonly side: HubSide;
  readonly state: LinkState;
  readonly claims: Claims;
  /** Whether this machine published the record over this connection: its own records come back. Ask once for each. */
  isSent(event: string): boolean;
}

export class Inbox {
  readonly #deps: InboxDeps;
  /** The last sequence that was handled; its record may not be stored yet. */
  #taken: number;
  readonly #storing = new Set<string>();
  #reported = 0;
  #toAcknowledge: JsMsg | undefined;
  /** Resolves once all records so far are stored. After a failed write it always rejects. */
  #stored: Promise<void> = Promise.resolve();

  constructor(deps: InboxDeps) {
    this.#deps = deps;
    this.#taken = deps.state.position.seq;
  }

  /** Receives until the signal is aborted. Rejects if the connection or the disk fails. */
  async run(client: JetStreamClient, manager: JetStreamManager, signal: AbortSignal): Promise<void> {
    const { stream } = this.#deps.names;
    await this.fill(manager, (await manager.streams.info(stream)).state);
    const consumer = await client.consumers.get(stream, consumerName(this.#deps.machine));
    const messages = await consumer.consume({ max_messages: MOST_PULLED });
    const stop = () => messages.stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      for await (const message of messages) {
        if (signal.aborted) break;
        if (message.seq > this.#taken + 1) await this.#fillUpTo(manager, message.seq - 1);
        const { seq, subject, data, headers, info } = message;
        const id = headers?.get('Nats-Msg-Id') ?? '';
        await this.#take({ seq, subject, id, time: info.timestampNanos, data }, message);
      }
    } finally {
      signal.removeEventListener('abort', stop);
    }
    await this.#stored;
  }

  /** Reads records that the consumer does not deliver: it may be ahead of a stream whose end the server has lost. */
  async fill(manager: JetStreamManager, state: { first_seq: number; last_seq: number }): Promise<void> {
    // Records that were removed from the beginning of the stream cannot be read any more.
    this.#taken = Math.max(this.#taken, state.first_seq - 1);
    await this.#fillUpTo(manager, state.last_seq);
  }

  async #fillUpTo(manager: JetStreamManager, last: number): Promise<void> {
    const { stream } = this.#deps.names;
    while (this.#taken < last) {
      const first = this.#taken + 1;
      const count = Math.min(FILLED_AT_ONCE, last - first + 1);
      const found = await Promise.all(
        Array.from({ length: count }, (_, index) => manager.streams.getMessage(stream, { seq: first + index })),
      );
      for (const [index, message] of found.entries()) {
        const seq = first + index;
        if (seq !== this.#taken + 1) continue;
        if (message === null) this.#taken = seq;
        else {
          const { subject, data, header, timestamp } = message;
          await this.#take({ seq, subject, id: header.get('Nats-Msg-Id'), time: toNanos(timestamp), data });
        }
      }
    }
  }

  async #take(message: StreamMessage, delivered?: JsMsg): Promise<void> {
    const { side, state, claims, machine } = this.#deps;
    this.#taken = Math.max(this.#taken, message.seq);
    let storing: Promise<void> | undefined;
    const { id } = message;
    const isKnown = id !== '' && (this.#deps.isSent(id) || this.#storing.has(id) || (await side.has(id)));
    if (!isKnown) {
      const checked = await this.#check(message);
      if (checked !== undefined) {
        const { record, from, author } = checked;
        const local = from === machine ? record : toLocalRecord(record, from, claims.toLocal(author, from), claims);
        this.#storing.add(message.id);
        storing = side.receive(from, local).finally(() => this.#storing.delete(message.id));
      }
    }
    this.#stored = Promise.all([this.#stored, storing]).then(() => {
      const { seq, time } = message;
      if (seq > state.position.seq) state.setPosition({ seq, time });
      if (delivered !== undefined) this.#acknowledge(delivered);
    });
    // The next caller that awaits it gets the error.
    this.#stored.catch(ignore);
    if (this.#storing.size >= MOST_STORING) await this.#stored;
  }

  /** Acknowledges once for each group of stored records, since an acknowledgement includes all earlier records. */
  #acknowledge(delivered: JsMsg): void {
    if (this.#toAcknowledge === undefined) {
      setImmediate(() => {
        this.#toAcknowledge?.ack();
        this.#toAcknowledge = undefined;
      });
    }
    if (delivered.seq >= (this.#toAcknowledge?.seq ?? 0)) this.#toAcknowledge = delivered;
  }

  async #check(message: StreamMessage): Promise<{ record: MessageRecord; from: string; author: string } | undefined> {
    const { name, claims } = this.#deps;
    const tokens = parseSubject(name, message.subject);
    if (tokens === undefined) {
      this.#refuse(message, 'its subject does not belong to this hub');
      return undefined;
    }
    const checked = checkReceived(tokens, message.id, message.data);
    if ('refused' in checked) {
      this.#refuse(message, checked.refused);
      return undefined;
    }
    const { author, machine: from } = tokens;
    const publishedAt = message.time / 1e6;
    const last = await this.#deps.side.lastMachineOf(claims.toLocal(author, from));
    const lastMachine = last === '' ? this.#deps.machine : last;
    const against = async (fresh: boolean) =>
      claimAgainst(await claims.claimOn(author, fresh), from, publishedAt, () => lastMachine);
    // The known claim may be outdated, so it is read again before the record is refused.
    const why = (await against(false)) === undefined ? undefined : await against(true);
    if (why === undefined) return { record: checked.record, from, author };
    this.#refuse(message, why);
    return undefined;
  }

  #refuse({ seq, subject }: StreamMessage, why: string): void {
    this.#reported += 1;
    if (this.#reported > MOST_REPORTED) return;
    const more = this.#reported === MOST_REPORTED ? '; further ones are not named' : '';
    this.#deps.side.report(`a record from another machine was refused, since ${why} (${subject}, ${seq})${more}`);
  }
}

/** The record with local names. */
function toLocalRecord(record: MessageRecord, machine: string, author: string, claims: Claims): MessageRecord {
  if (record.type !== 'message.create') return { ...record, machine, author };
  const refs = mapMentions(record.refs, (name) => claims.toLocal(name));
  return { ...record, machine, author: { ...record.author, agent_id: author, name: author }, refs };
}

export function mapMentions(refs: readonly Pair[], map: (name: string) => string): Pair[] {
  return refs.map((ref) => (ref.type === 'mention' ? { ...ref, value: map(ref.value) } : ref));
}

/** Nanoseconds since 1970 as a number, as the NATS client reads them from a delivered message. */
export function toNanos(timestamp: string): number {
  const [, seconds = '', fraction = ''] = /^([^.Z]{19})(?:\.(\d{1,9}))?/.exec(timestamp) ?? [];
  return Number(BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0')));
}
