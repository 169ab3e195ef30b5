// One conversation as the web chat follows it: its projections and the answer being written.
import { type LogEvent, readWritten, EVENT_VERSION } from '../protocol/event.ts';
import { type HostMessageOf } from '../protocol/plugin.ts';
import { type Folded, Projections } from '../core/conversation/projections/project.ts';
import { type PartialAnswer } from '../core/ports/ports.ts';
import { type KnownTools } from '../core/ports/toolTraits.ts';

export type PluginEvent = HostMessageOf<'event'>;

/** Receives the changes of a conversation for a page. */
export interface ConversationFollower {
  appended(folded: Folded): void;
  render(partial: PartialAnswer): void;
  /** The running state, title, pending notifications or queued messages may have changed. */
  changed(): void;
}

interface OpenAnswer {
  readonly id: string;
  readonly text: { message: string; reasoning: string };
  /** Pieces are missing, so no more are shown; the complete event will have the whole text. */
  broken: boolean;
}

/** How much of a call's output a page gets that connects later. */
const KEPT_OUTPUT = 20_000;

/** The built-in tools of which the page shows more than their calls. */
const TOOLS: KnownTools = {
  traits: (name) => (name === 'todo' ? { writesTodo: true } : undefined),
  withRestOf: () => undefined,
};

export class FollowedConversation {
  readonly id: string;
  readonly followers = new Set<ConversationFollower>();
  readonly #state = new Projections(TOOLS);
  #answer: OpenAnswer | undefined;
  /** The output of calls without a result, as far as this window has sent it. */
  readonly #outputs = new Map<string, { text: string; length: number }>();
  #lastSeq = 0;
  #running = false;
  readonly #catchingUp = new Set<{ readonly seq: number; resolve(): void }>();

  constructor(id: string) {
    this.id = id;
  }

  get state(): Projections {
    return this.#state;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get running(): boolean {
    return this.#running;
  }

  /** Call when the window that ran the turn is gone. */
  setNotRunning(): void {
    this.#running = false;
    this.#endAnswer();
    for (const follower of this.followers) follower.changed();
  }

  /** Resolves once the event with this number is folded. */
  async catchUp(seq: number): Promise<void> {
    if (this.#lastSeq >= seq) return;
    await new Promise<void>((resolve) => this.#catchingUp.add({ seq, resolve }));
  }

  /** The unfinished answer and the output of running calls so far, for a page that connects while it is being written. */
  get unfinished(): readonly PartialAnswer[] {
    const answer = this.#answer;
    const outputs = [...this.#outputs].map(([call, { text }]) => ({ type: 'tool_output', call, text }) as const);
    if (answer === undefined) return outputs;
    const { id, text } = answer;
    const parts = [
      ['reasoning', text.reasoning],
      ['text', text.message],
    ] as const;
    return [
      { type: 'answer_started', id },
      ...parts
        .filter(([, part]) => part !== '')
        .map(([field, part]) => ({ type: 'answer_text', id, field, text: part }) as const),
      ...outputs,
    ];
  }

  receive(event: PluginEvent): void {
    if (event.partial !== undefined && event.data.type === 'tool_call_response') {
      const { content } = event.data;
      this.#output(event.partial, typeof content === 'string' ? content : '');
    } else if (event.partial !== undefined) this.#piece(event.partial, event.data);
    else if (event.seq !== undefined) this.#logged(event.seq, event);
  }

  #logged(seq: number, { data, response }: PluginEvent): void {
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
    if (response !== undefined && this.#answer?.id === response) this.#answer = undefined;
    if (event.type === 'turn_started') this.#running = true;
    if (event.type === 'turn_ended') this.#running = false;
    // An answer that was cut short has no event of its own.
    if (event.type === 'turn_ended' || event.type === 'model_call') this.#endAnswer();
    if (event.type === 'tool_call_response') this.#outputs.delete(event.id);
    if (event.type === 'turn_ended') this.#outputs.clear();
    const folded = this.#state.fold(event);
    for (const follower of this.followers) {
      follower.appended(folded);
      follower.changed();
    }
    // Its first output may have come before the call itself.
    const early = event.type === 'tool_call_request' ? this.#outputs.get(event.id) : undefined;
    if (event.type === 'tool_call_request' && early !== undefined)
      this.#render({ type: 'tool_output', call: event.id, text: early.text });
  }

  /** A piece that was lost is not missed: the complete event has the whole output. */
  #output({ response: call, offset }: NonNullable<PluginEvent['partial']>, text: string): void {
    const item = this.#state.transcript.items.findLast(({ id }) => id === call);
    if (item !== undefined && (item.type !== 'tool' || item.state !== 'running')) return;
    const known = this.#outputs.get(call) ?? { text: '', length: 0 };
    // After a reconnect the end of the output so far arrives again.
    const more = text.slice(Math.max(0, known.length - offset));
    if (more === '') return;
    this.#outputs.set(call, {
      text: (known.text + more).slice(-KEPT_OUTPUT),
      length: Math.max(known.length, offset + text.length),
    });
    if (item !== undefined) this.#render({ type: 'tool_output', call, text: more });
  }

  #piece({ response, offset }: NonNullable<PluginEvent['partial']>, data: PluginEvent['data']): void {
    if (this.#answer?.id !== response) {
      this.#endAnswer();
      this.#answer = { id: response, text: { message: '', reasoning: '' }, broken: false };
      this.#render({ type: 'answer_started', id: response });
    }
    const answer = this.#answer;
    const field = typeof data['message'] === 'string' ? 'message' : 'reasoning';
    const text = data[field];
    if (typeof text !== 'string' || answer.broken) return;
    // After a reconnect the text so far arrives again, as one piece.
    const known = answer.text[field].length;
    if (offset > known) {
      answer.broken = true;
      return;
    }
    const more = text.slice(known - offset);
    if (more === '') return;
    answer.text[field] += more;
    this.#render({ type: 'answer_text', id: response, field: field === 'message' ? 'text' : 'reasoning', text: more });
  }

  #endAnswer(): void {
    if (this.#answer !== undefined) this.#render({ type: 'answer_ended', id: this.#answer.id });
    this.#answer = undefined;
  }

  #render(partial: PartialAnswer): void {
    for (const follower of this.followers) follower.render(partial);
  }
}
