// A conversation of a window that front ends of this process follow, over one subscription.
import { type Clock } from '../../../base/clock.ts';
import { type Disposable, DisposableStore } from '../../../base/disposable.ts';
import { failed, type Result, succeeded } from '../../../base/errors.ts';
import { type LogEvent, EVENT_VERSION, readWritten } from '../../../protocol/event.ts';
import { type HandleView } from '../../../protocol/page/handlesView.ts';
import { type HostMessageOf } from '../../../protocol/plugin.ts';
import { type Client, type FollowedConversation, type FollowMessage, type FollowChange } from '../client.ts';
import { FollowedCommands } from '../followedCommands.ts';
import { type RequestsClient } from '../requests.ts';
import { TODO_TOOL } from '../../../base/toolLabels.ts';
import { type Folded, Projections } from '../../conversation/projections/project.ts';
import { type PartialAnswer } from '../../ports/ports.ts';
import { type KnownTools } from '../../ports/toolTraits.ts';
import { Unfinished } from '../unfinished.ts';

/** Events after which a command may have started or ended. */
const AFFECTING: ReadonlySet<LogEvent['type']> = new Set(['tool_call_response', 'handle_started', 'turn_ended']);

export interface RemoteFollowDeps {
  readonly clock: Clock;
  readonly client: Pick<Client, 'call'>;
  readonly requests: RequestsClient;
  /** Resolves to the number of the last event at that moment. */
  subscribe(since: number): Promise<Result<number>>;
  warn(message: string): void;
}

export class RemoteFollow implements Disposable {
  readonly #id: string;
  readonly #deps: RemoteFollowDeps;
  readonly #held = new DisposableStore();
  readonly #conversation: RemoteConversation;
  readonly #followers: Followers;
  readonly #commands: FollowedCommands;
  /** Events that are awaited may never come then. */
  readonly #lost = Promise.withResolvers<Result<never>>();
  #ready: Promise<Result<void>>;

  constructor(id: string, deps: RemoteFollowDeps) {
    this.#id = id;
    this.#deps = deps;
    this.#followers = new Followers(() => this.#view());
    this.#commands = this.#held.add(
      new FollowedCommands({
        clock: deps.clock,
        list: () => this.#listCommands(),
        changed: (commands) => this.#followers.change({ type: 'commands', commands }),
        report: (error) => deps.warn(String(error)),
      }),
    );
    this.#conversation = new RemoteConversation({
      appended: (folded) => {
        if (AFFECTING.has(folded.event.type) || this.#commands.isRunning) this.#commands.refresh();
        this.#followers.change({ type: 'event', folded });
      },
      render: (partial) => this.#followers.change({ type: 'partial', partial }),
      changed: () => this.#followers.change({ type: 'status', status: this.#status }),
    });
    this.#held.add(
      deps.requests.onDidChange((request) => {
        const { type, open, answer } = request;
        if (open.conversation !== id) return;
        this.#followers.change({ type: 'request', request });
        // The connection does not say when a call starts that needed no approval.
        if (type === 'closed' && answer !== undefined && 'action' in answer && answer.action !== 'reject')
          this.#followers.change({ type: 'partial', partial: { type: 'tool_started', call: open.id } });
      }),
    );
    this.#ready = this.#subscribe();
  }

  get isUsed(): boolean {
    return this.#followers.count > 0;
  }

  async add(receive: (message: FollowMessage) => void): Promise<Result<void>> {
    this.#followers.add(receive);
    const ready = await Promise.race([this.#ready, this.#lost.promise]);
    if (ready.ok) this.#followers.snapshot(receive);
    return ready;
  }

  remove(receive: (message: FollowMessage) => void): void {
    this.#followers.remove(receive);
  }

  receive(event: HostMessageOf<'event'>): void {
    this.#conversation.receive(event);
  }

  /** Subscribes again after the last event. */
  renew(): void {
    const renew = async () => {
      const ready = await this.#subscribe();
      if (!ready.ok) this.lose(ready.failure.message);
      return ready;
    };
    this.#ready = renew();
  }

  lose(reason: string): void {
    this.dispose();
    this.#lost.resolve(failed('plugin', reason));
    this.#followers.lose(reason);
  }

  dispose(): void {
    this.#held.dispose();
  }

  get #status() {
    // The window takes the conversation over from another one when it is asked to send.
    return { running: this.#conversation.running, owned: true };
  }

  #view(): FollowedConversation {
    return {
      id: this.#id,
      state: this.#conversation.state,
      ...this.#status,
      unfinished: this.#conversation.unfinished,
      requests: this.#deps.requests.all.filter(({ conversation }) => conversation === this.#id),
      commands: this.#commands.all,
    };
  }

  /** Resolves once all events so far are folded. */
  async #subscribe(): Promise<Result<void>> {
    const subscribed = await this.#deps.subscribe(this.#conversation.lastSeq);
    if (!subscribed.ok) return subscribed;
    await this.#conversation.catchUp(subscribed.value);
    if (this.#conversation.running) await this.#checkRunning();
    this.#commands.refresh(0);
    return succeeded(undefined);
  }

  /** The window that ran a turn may have been killed, and its log does not say so. */
  async #checkRunning(): Promise<void> {
    const { turn } = this.#conversation.state.turn;
    const read = await this.#deps.client.call('read_events', { conversation: this.#id });
    const isFree = read.ok && read.value.lock === 'free';
    if (isFree && this.#conversation.state.turn.turn === turn) this.#conversation.setNotRunning();
  }

  async #listCommands(): Promise<readonly HandleView[]> {
    const listed = await this.#deps.client.call('list_commands', { conversation: this.#id });
    return listed.ok ? listed.value.data.map(({ tool_call_id: call, ...rest }) => ({ call, ...rest })) : [];
  }
}

type WindowEvent = HostMessageOf<'event'>;
type Piece = NonNullable<WindowEvent['partial']>;
type Field = 'message' | 'reasoning';

interface RemoteConversationDeps {
  appended(folded: Folded): void;
  render(partial: PartialAnswer): void;
  /** `running` has changed. */
  changed(): void;
}

/** The answer that is being written: how many characters of each field have been rendered. */
interface OpenAnswer {
  readonly id: string;
  readonly lengths: Record<Field, number>;
  /** Pieces are missing, so no more are shown; the complete event will have the whole text. */
  broken: boolean;
}

/** The built-in tools of which front ends show more than their calls. */
const TOOLS: KnownTools = {
  known: () => undefined,
  traits: (name) => (name === TODO_TOOL ? { writesTodo: true } : undefined),
  withRestOf: () => undefined,
};

/**
 * A conversation that is followed through a connection: its projections, folded here, and the answer being written.
 */
export class RemoteConversation {
  readonly state = new Projections(TOOLS);
  readonly #deps: RemoteConversationDeps;
  readonly #unfinished = new Unfinished();
  #answer: OpenAnswer | undefined;
  /** The length of the output of calls without a result, as far as the window has sent it. */
  readonly #outputs = new Map<string, number>();
  #lastSeq = 0;
  #running = false;
  readonly #catchingUp = new Set<{ readonly seq: number; resolve(): void }>();

  constructor(deps: RemoteConversationDeps) {
    this.#deps = deps;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get running(): boolean {
    return this.#running;
  }

  /** The unfinished answer, and the output of running calls whose requests are in the log. */
  get unfinished(): readonly PartialAnswer[] {
    return this.#unfinished.all.filter((one) => one.type !== 'tool_output' || this.#isRunning(one.call) === true);
  }

  /** Call when the window that ran the turn is gone. */
  setNotRunning(): void {
    this.#endAnswer();
    this.#setRunning(false);
  }

  /** Resolves once the event with this number is folded. */
  async catchUp(seq: number): Promise<void> {
    if (this.#lastSeq >= seq) return;
    await new Promise<void>((resolve) => this.#catchingUp.add({ seq, resolve }));
  }

  receive(event: WindowEvent): void {
    const { partial, seq, data } = event;
    if (partial !== undefined && data.type === 'tool_call_response') this.#output(partial, textOf(data['content']));
    else if (partial !== undefined) this.#piece(partial, data);
    else if (seq !== undefined) this.#logged(seq, event);
  }

  #logged(seq: number, { data, response }: WindowEvent): void {
    this.#lastSeq = seq;
    // An event of a newer Earshot is ignored, as everywhere.
    const read = readWritten({ ...data, v: EVENT_VERSION });
    if (read.kind === 'event') this.#fold(read.event, response);
    for (const waiting of this.#catchingUp) {
      if (seq < waiting.seq) continue;
      this.#catchingUp.delete(waiting);
      waiting.resolve();
    }
  }

  #fold(event: LogEvent, response: string | undefined): void {
    // An answer that was cut short has no event of its own.
    if (event.type === 'turn_ended' || event.type === 'model_call') this.#endAnswer();
    if (response !== undefined && this.#answer?.id === response) this.#answer = undefined;
    if (event.type === 'tool_call_response') this.#outputs.delete(event.id);
    if (event.type === 'turn_ended') this.#outputs.clear();
    this.#unfinished.fold(event);
    this.#deps.appended(this.state.fold(event));
    if (event.type === 'turn_started') this.#setRunning(true);
    if (event.type === 'turn_ended') this.#setRunning(false);
    if (event.type !== 'tool_call_request') return;
    // Its first output may have come before the call itself.
    const early = this.#unfinished.all.find((one) => one.type === 'tool_output' && one.call === event.id);
    if (early !== undefined) this.#deps.render(early);
  }

  /** A piece that was lost is not missed: the complete event has the whole output. */
  #output({ response: call, offset }: Piece, text: string): void {
    const known = this.#outputs.get(call) ?? 0;
    const isRunning = this.#isRunning(call);
    if (isRunning === false) return;
    // After a reconnect the end of the output so far arrives again.
    const more = text.slice(Math.max(0, known - offset));
    if (more === '') return;
    this.#outputs.set(call, Math.max(known, offset + text.length));
    const partial = { type: 'tool_output', call, text: more } as const;
    this.#unfinished.add(partial);
    if (isRunning === true) this.#deps.render(partial);
  }

  /** Undefined: the call is not in the log yet. */
  #isRunning(call: string): boolean | undefined {
    const item = this.state.transcript.items.findLast(({ id }) => id === call);
    return item && item.type === 'tool' && item.state === 'running';
  }

  #piece({ response, offset }: Piece, data: WindowEvent['data']): void {
    if (this.#answer?.id !== response) {
      this.#endAnswer();
      this.#answer = { id: response, lengths: { message: 0, reasoning: 0 }, broken: false };
      this.#render({ type: 'answer_started', id: response });
    }
    const answer = this.#answer;
    const field = typeof data['message'] === 'string' ? 'message' : 'reasoning';
    const known = answer.lengths[field];
    if (offset > known) answer.broken = true;
    // After a reconnect the text so far arrives again, as one piece.
    const text = answer.broken ? '' : textOf(data[field]).slice(known - offset);
    if (text === '') return;
    answer.lengths[field] += text.length;
    this.#render({ type: 'answer_text', id: response, field: field === 'message' ? 'text' : 'reasoning', text });
  }

  #endAnswer(): void {
    if (this.#answer !== undefined) this.#render({ type: 'answer_ended', id: this.#answer.id });
    this.#answer = undefined;
  }

  #render(partial: PartialAnswer): void {
    this.#unfinished.add(partial);
    this.#deps.render(partial);
  }

  #setRunning(running: boolean): void {
    if (this.#running === running) return;
    this.#running = running;
    this.#deps.changed();
  }
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

type Receive = (message: FollowMessage) => void;

/** The front ends that follow one conversation: each gets a snapshot and then its own numbers. */
class Followers {
  /** The last number of each; undefined: it has no snapshot yet. */
  readonly #receivers = new Map<Receive, number | undefined>();
  readonly #view: () => FollowedConversation;

  constructor(view: () => FollowedConversation) {
    this.#view = view;
  }

  get count(): number {
    return this.#receivers.size;
  }

  add(receive: Receive): void {
    this.#receivers.set(receive, undefined);
  }

  remove(receive: Receive): void {
    this.#receivers.delete(receive);
  }

  /** Sends a snapshot: to one front end, or to all that have got one before. */
  snapshot(to?: Receive): void {
    for (const [receive, number] of [...this.#receivers]) {
      if (to === undefined ? number !== undefined : to === receive) this.#send(receive, (number ?? 0) + 1);
    }
  }

  change(change: FollowChange): void {
    for (const [receive, number] of [...this.#receivers]) {
      if (number === undefined || !this.#receivers.has(receive)) continue;
      this.#receivers.set(receive, number + 1);
      receive({ type: 'delta', number: number + 1, change });
    }
  }

  lose(reason: string): void {
    const receivers = [...this.#receivers.keys()];
    this.#receivers.clear();
    for (const receive of receivers) receive({ type: 'lost', reason });
  }

  #send(receive: Receive, number: number): void {
    this.#receivers.set(receive, number);
    receive({ type: 'snapshot', number, conversation: this.#view() });
  }
}
