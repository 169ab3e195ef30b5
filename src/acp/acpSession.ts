// One session of a client: follows its conversation and sends its updates, in their order.
import { Sequence } from '../base/async.ts';
import { type Disposable } from '../base/disposable.ts';
import { type Result, succeeded } from '../base/errors.ts';
import { type FollowChange, type FollowMessage } from '../core/client/client.ts';
import { type Projections } from '../core/conversation/projections/project.ts';
import { type PartialAnswer } from '../core/ports/ports.ts';
import { EVENT_VERSION, type EventOf, type LogEvent, readWritten } from '../protocol/event.ts';
import { type AcpFolder } from './acpFolder.ts';
import { chunk, outputUpdate, type SessionUpdate, startedUpdate, updatesOf } from './updates.ts';

/** The last characters of a call's output that are shown while it runs; its result has the text for the model. */
const LIVE_OUTPUT = 4000;

export interface AcpSessionDeps {
  readonly folder: AcpFolder;
  send(update: SessionUpdate): void;
  report(what: string, error: unknown): void;
}

export class AcpSession implements Disposable {
  readonly id: string;
  readonly #deps: AcpSessionDeps;
  /** Updates are sent in order, although some read files first. */
  readonly #updates = new Sequence();
  #following: Disposable | undefined;
  /** Set while the session is opened: what happens meanwhile is sent after its history. */
  #waiting: FollowMessage[] | undefined;
  #state: Projections | undefined;
  #running = false;
  #idle = Promise.withResolvers<void>();
  #lastSeq = 0;
  /** Running calls that were announced to the client, with the end of their output. */
  readonly #announced = new Map<string, string>();
  /** Calls that started before they were announced. */
  readonly #early = new Set<string>();
  /** Answers of the history, whose pieces may have come while it was read. */
  readonly #replayed = new Set<string>();
  /** How many characters of the answer that is being written the client has. */
  #shown = { answer: '', text: 0, reasoning: 0 };

  constructor(id: string, deps: AcpSessionDeps) {
    this.id = id;
    this.#deps = deps;
  }

  get folder(): AcpFolder {
    return this.#deps.folder;
  }

  /** The number of the last event that was sent. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Follows the conversation. With `after`, the client first gets the events after this number. */
  async open(after?: number): Promise<Result<void>> {
    const { client } = this.folder;
    this.#waiting ??= [];
    const following =
      this.#following === undefined ? await client.follow(this.id, (message) => this.#receive(message)) : undefined;
    if (following?.ok === false) return following;
    if (following !== undefined) this.#following = following.value;
    const read = after === undefined ? undefined : await client.call('read_events', { conversation: this.id });
    if (read?.ok === false) return read;
    for (const data of read?.value.data ?? []) {
      const known = readWritten({ ...data, v: EVENT_VERSION });
      if (known.kind === 'event' && known.event.seq > (after ?? 0)) this.#replay(known.event);
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    for (const message of waiting) this.#receive(message);
    this.#replayed.clear();
    return succeeded(undefined);
  }

  /** Sends an update after all that were made before. */
  update(make: SessionUpdate | (() => Promise<readonly SessionUpdate[]>)): void {
    const send = async () => {
      for (const update of typeof make === 'function' ? await make() : [make]) this.#deps.send(update);
    };
    void this.#updates.run(send).catch((error: unknown) => this.#deps.report('an update could not be sent', error));
  }

  /** Resolves once all updates so far are sent. */
  sent(): Promise<void> {
    return this.#updates.settled();
  }

  /** Resolves once no turn is running. */
  async untilIdle(): Promise<void> {
    if (this.#running) await this.#idle.promise;
  }

  dispose(): void {
    this.#following?.dispose();
  }

  #receive(message: FollowMessage): void {
    if (this.#waiting !== undefined) this.#waiting.push(message);
    else if (message.type === 'delta') this.#change(message.change);
    else if (message.type === 'snapshot') {
      const isFirst = this.#state === undefined;
      const { state, running, unfinished } = message.conversation;
      this.#state = state;
      this.#setRunning(running);
      if (isFirst) for (const partial of unfinished) this.#render(partial);
    }
  }

  #change(change: FollowChange): void {
    if (change.type === 'partial') this.#render(change.partial);
    else if (change.type === 'status') this.#setRunning(change.status.running);
    else if (change.type === 'event' && change.folded.event.seq > this.#lastSeq) this.#log(change.folded.event);
  }

  #setRunning(running: boolean): void {
    if (running && !this.#running) this.#idle = Promise.withResolvers();
    if (!running) this.#idle.resolve();
    this.#running = running;
  }

  #replay(event: LogEvent): void {
    if (event.type === 'chat_response') this.#replayed.add(event.event_id);
    this.#forward(event, true);
  }

  #log(event: LogEvent): void {
    if (event.type === 'chat_response') this.#showRest(event);
    this.#forward(event, false);
    if (event.type === 'tool_call_response') this.#announced.delete(event.id);
    if (event.type !== 'tool_call_request') return;
    this.#announced.set(event.id, '');
    if (this.#early.delete(event.id)) this.update(startedUpdate(event.id));
  }

  #forward(event: LogEvent, replay: boolean): void {
    this.#lastSeq = event.seq;
    const { folder, snapshots, effectOf, traitsOf } = this.folder;
    const deps = { folder, snapshots, effectOf, traitsOf, key: () => this.#state?.turn.key ?? '' };
    this.update(() => updatesOf(event, deps, replay));
  }

  #render(partial: PartialAnswer): void {
    if (partial.type === 'answer_text') {
      if (this.#replayed.has(partial.id)) return;
      if (this.#shown.answer !== partial.id) this.#shown = { answer: partial.id, text: 0, reasoning: 0 };
      this.#show(partial.field, partial.text);
    } else if (partial.type === 'tool_started') {
      if (this.#announced.has(partial.call)) this.update(startedUpdate(partial.call));
      else this.#early.add(partial.call);
    } else if (partial.type === 'tool_output') {
      const before = this.#announced.get(partial.call);
      if (before === undefined) return;
      const output = (before + partial.text).slice(-LIVE_OUTPUT);
      this.#announced.set(partial.call, output);
      this.update(outputUpdate(partial.call, output));
    }
  }

  /** What was not rendered of an answer, because pieces were dropped or it was answered elsewhere. */
  #showRest(event: EventOf<'chat_response'>): void {
    const { answer, text, reasoning } = this.#shown;
    const isShown = answer === event.event_id;
    this.#show('reasoning', (event.reasoning ?? '').slice(isShown ? reasoning : 0));
    this.#show('text', (event.message ?? '').slice(isShown ? text : 0));
  }

  #show(field: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    this.#shown[field] += text.length;
    this.update(chunk(field === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk', text));
  }
}
