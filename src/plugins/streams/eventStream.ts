// One conversation of one subscription: replays the events after `since`, then sends new events, pieces and questions.
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { describeFailure } from '../../base/errors.ts';
import { type LogEvent } from '../../protocol/event.ts';
import { type HostMessageOf } from '../../protocol/plugin.ts';
import { type Feed } from './feed.ts';
import { type Piece, type Pieces } from './pieces.ts';

type EventMessage = HostMessageOf<'event'>;

export interface EventStreamDeps {
  readonly subscription: string;
  readonly feed: Feed;
  readonly pieces: Pieces;
  wants(type: string): boolean;
  /** Whether the output of running calls is sent. */
  readonly wantsOutput: boolean;
  /** False: too many events wait already, so this one was not sent. */
  send(message: EventMessage, key: string): boolean;
  /** Whether a piece can be sent now; if not, it is dropped. */
  readonly takesPartials: () => boolean;
  /** Resolves once the plugin has read most of what was sent. */
  room(): Promise<void>;
  /** Called when the stream has ended because the plugin was too slow, or its events are gone. */
  failed(reason: string): void;
}

export class EventStream implements Disposable {
  readonly #deps: EventStreamDeps;
  readonly #held = new DisposableStore();
  /** The number of the last event that was sent or skipped. */
  #cursor: number;
  #live = false;
  #ended = false;
  /** Messages that must follow an event that was not sent yet. */
  #later: { readonly after: number; readonly message: EventMessage }[] = [];
  /** The answer of which a piece was dropped. Its later pieces are dropped too, since they would not fit. */
  #dropped: string | undefined;

  constructor(deps: EventStreamDeps, since: number) {
    this.#deps = deps;
    this.#cursor = since;
    const { feed, pieces } = deps;
    this.#held.add(feed.onEvent((event) => this.#live && this.#forward(event)));
    this.#held.add(feed.onLost((reason) => this.#fail(`The conversation cannot be followed: ${reason}.`)));
    this.#held.add(pieces.onPiece((piece) => piece.conversation === feed.conversation && this.#piece(piece)));
  }

  get cursor(): number {
    return this.#cursor;
  }

  get conversation(): string {
    return this.#deps.feed.conversation;
  }

  /** Starts sending; call it after `subscribed` was sent. Resolves once the replay is complete. */
  async start(): Promise<void> {
    while (this.#cursor < this.#deps.feed.lastSeq && !this.#ended) await this.#replay();
    if (this.#ended) return;
    this.#live = true;
    this.#flush();
    for (const piece of this.#deps.pieces.soFar(this.conversation)) this.#piece(piece);
  }

  /** Sends a message without a number, but not before the replay is complete and the event `after` was sent. */
  announce(message: EventMessage, after = 0): void {
    if (this.#ended) return;
    this.#later.push({ after, message });
    this.#flush();
  }

  dispose(): void {
    this.#ended = true;
    this.#live = false;
    this.#later = [];
    this.#held.dispose();
  }

  /** Sends the log up to the last known event. Waits for the plugin, so that a long log does not fill the memory. */
  async #replay(): Promise<void> {
    const { feed } = this.#deps;
    const target = feed.lastSeq;
    const read = await feed.scan(this.#cursor);
    if (!read.ok) {
      this.#fail(describeFailure(read.failure));
      return;
    }
    for (const event of read.value.events) {
      if (event.seq > feed.lastSeq) break;
      if (event.seq <= this.#cursor) continue;
      if (this.#ended || !this.#send(event)) return;
      await this.#deps.room();
    }
    // Damaged lines yield no events, so the cursor may be behind.
    this.#cursor = Math.max(this.#cursor, target);
  }

  #forward(event: LogEvent): void {
    if (event.seq > this.#cursor && this.#send(event)) this.#flush();
  }

  /** False: the plugin is too slow, and the stream has failed. */
  #send(event: LogEvent): boolean {
    const { subscription, feed } = this.#deps;
    if (this.#deps.wants(event.type)) {
      const { v: _, ...data } = event;
      const response = event.type === 'chat_response' ? { response: event.event_id } : {};
      const message = { sub_id: subscription, conversation: feed.conversation, seq: event.seq, ...response, data };
      if (!this.#deps.send({ type: 'event', ...message }, feed.key)) {
        this.#fail('The plugin reads too slowly: too many events wait for it. Subscribe again with since.');
        return false;
      }
    }
    this.#cursor = event.seq;
    return true;
  }

  #piece({ conversation, response, index, field, offset, text }: Piece): void {
    const isOutput = field === 'content';
    const type = isOutput ? 'tool_call_response' : 'chat_response';
    if (!this.#live || this.#dropped === response || !this.#deps.wants(type)) return;
    if (isOutput && !this.#deps.wantsOutput) return;
    if (!this.#deps.takesPartials()) {
      this.#dropped = response;
      return;
    }
    const { subscription, feed } = this.#deps;
    const data = { type, ...(isOutput && { id: response }), [field]: text };
    const partial = { response, index, offset };
    this.#deps.send({ type: 'event', sub_id: subscription, conversation, partial, data }, feed.key);
  }

  #flush(): void {
    if (!this.#live) return;
    const due = this.#later.filter(({ after }) => after <= this.#cursor);
    if (due.length === 0) return;
    this.#later = this.#later.filter(({ after }) => after > this.#cursor);
    for (const { message } of due) this.#deps.send(message, this.#deps.feed.key);
  }

  #fail(reason: string): void {
    if (this.#ended) return;
    this.dispose();
    this.#deps.failed(reason);
  }
}
