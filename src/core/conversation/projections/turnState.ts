// Projects the progress of the turn: whether one is open, which of its tool calls have no response, which were
// approved.
import { type EventOf, type LogEvent } from '../../../protocol/event.ts';

export interface UnansweredCall {
  readonly request: EventOf<'tool_call_request'>;
  readonly approval?: EventOf<'approval'>;
  /** Events after the request are missing from the log: its approval or its response may be among them. */
  readonly uncertain?: true;
}

export interface Inquiry {
  readonly request: EventOf<'inquiry_request'>;
  readonly response?: EventOf<'inquiry_response'>;
}

/**
 * Only calls of the last answer of the open turn can be unanswered. If a damaged log or an earlier version left another
 * call without a response, that call is dropped at the first event that its response must precede, and never runs again
 * (invariant 5 of `src/README.md`).
 */
export class TurnState {
  readonly #unanswered = new Map<string, UnansweredCall>();
  readonly #callIds = new Set<string>();
  /** Questions of unanswered calls, by the call's id. */
  readonly #inquiries = new Map<string, Inquiry>();
  #open = false;
  #key = '';
  #turn = '';
  #schema: EventOf<'chat_request'>['schema'];
  #outcome: EventOf<'turn_ended'>['outcome'] | undefined;
  /** A `model_call` closed the last answer: further output of the model belongs to the next one. */
  #answerEnded = false;
  #lastSeq = 0;

  /** The number of the last folded event. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** The conversation's secret; empty until its first event. */
  get key(): string {
    return this.#key;
  }

  /** The `event_id` of the last `turn_started`; empty before the first. */
  get turn(): string {
    return this.#turn;
  }

  /** JSON Schema of the answer that the open turn's request asks for. */
  get schema(): EventOf<'chat_request'>['schema'] {
    return this.#schema;
  }

  /** How the last turn ended; undefined before the first end. */
  get outcome(): EventOf<'turn_ended'>['outcome'] | undefined {
    return this.#outcome;
  }

  get unanswered(): readonly UnansweredCall[] {
    return [...this.#unanswered.values()];
  }

  get hasUnanswered(): boolean {
    return this.#unanswered.size > 0;
  }

  /** The question that an unanswered call asked. */
  inquiry(call: string): Inquiry | undefined {
    return this.#inquiries.get(call);
  }

  /** Questions that the user has not answered. */
  get openInquiries(): readonly EventOf<'inquiry_request'>[] {
    return [...this.#inquiries.values()].filter(({ response }) => response === undefined).map(({ request }) => request);
  }

  /** Whether a call with this id was ever made. */
  hasCall(id: string): boolean {
    return this.#callIds.has(id);
  }

  /** Call where events are missing from the log or were cut off its end. */
  lostEvents(): void {
    for (const [id, call] of this.#unanswered) this.#unanswered.set(id, { ...call, uncertain: true });
  }

  fold(event: LogEvent): void {
    if (event.seq !== this.#lastSeq + 1) this.lostEvents();
    this.#lastSeq = event.seq;
    switch (event.type) {
      case 'conversation_started':
        this.#key = event.key;
        return;
      case 'turn_started':
        this.#forgetCalls();
        this.#open = true;
        this.#turn = event.event_id;
        this.#schema = undefined;
        return;
      case 'chat_request':
        this.#forgetCalls();
        this.#schema = event.schema ?? this.#schema;
        return;
      case 'turn_ended':
        this.#forgetCalls();
        this.#open = false;
        this.#outcome = event.outcome;
        return;
      case 'forked':
        this.#forgetCalls();
        return;
      case 'model_call':
        // Titles and summaries are requested outside the answer.
        if (event.purpose === undefined) this.#answerEnded = true;
        return;
      case 'chat_response':
        this.#beginAnswer();
        return;
      case 'tool_call_request':
        this.#beginAnswer();
        this.#callIds.add(event.id);
        this.#unanswered.set(event.id, { request: event });
        return;
      case 'approval': {
        this.#callIds.add(event.tool_call_id);
        const call = this.#unanswered.get(event.tool_call_id);
        if (call !== undefined) this.#unanswered.set(event.tool_call_id, { ...call, approval: event });
        return;
      }
      case 'inquiry_request':
        if (event.tool_call_id !== undefined) this.#inquiries.set(event.tool_call_id, { request: event });
        return;
      case 'inquiry_response':
        for (const [call, { request }] of this.#inquiries) {
          if (request.id === event.id) this.#inquiries.set(call, { request, response: event });
        }
        return;
      case 'tool_call_response':
        // Added even if the request is missing: a new call with the same id would get the old call's files.
        this.#callIds.add(event.id);
        this.#unanswered.delete(event.id);
        this.#inquiries.delete(event.id);
        return;
      default:
        return;
    }
  }

  /** One answer may consist of several events; its `model_call` is the last. */
  #beginAnswer(): void {
    if (this.#answerEnded) this.#forgetCalls();
    this.#answerEnded = false;
  }

  #forgetCalls(): void {
    this.#unanswered.clear();
    this.#inquiries.clear();
  }
}
