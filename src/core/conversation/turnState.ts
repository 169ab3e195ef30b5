// Decides how far the running turn has come: is one open, which tool calls have no response, which were approved.
import { type EventOf, type LogEvent } from '../../protocol/event.ts';

export interface UnansweredCall {
  readonly request: EventOf<'tool_call_request'>;
  readonly approval?: EventOf<'approval'>;
}

export interface Inquiry {
  readonly request: EventOf<'inquiry_request'>;
  readonly response?: EventOf<'inquiry_response'>;
}

export class TurnState {
  readonly #unanswered = new Map<string, UnansweredCall>();
  readonly #callIds = new Set<string>();
  /** Questions of calls without a response, by the call. */
  readonly #inquiries = new Map<string, Inquiry>();
  #open = false;
  #key = '';
  #schema: EventOf<'chat_request'>['schema'];
  #outcome: EventOf<'turn_ended'>['outcome'] | undefined;

  get isOpen(): boolean {
    return this.#open;
  }

  /** The conversation's secret; empty until its first event. */
  get key(): string {
    return this.#key;
  }

  /** JSON Schema of the answer that the open turn's request wants. */
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

  /** The question that an unanswered call has put. */
  inquiry(call: string): Inquiry | undefined {
    return this.#inquiries.get(call);
  }

  /** Questions that wait for the user. */
  get openInquiries(): readonly EventOf<'inquiry_request'>[] {
    return [...this.#inquiries.values()].filter(({ response }) => response === undefined).map(({ request }) => request);
  }

  /** Whether a call with this id was ever made. */
  hasCall(id: string): boolean {
    return this.#callIds.has(id);
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'conversation_started':
        this.#key = event.key;
        return;
      case 'turn_started':
        this.#open = true;
        this.#schema = undefined;
        return;
      case 'chat_request':
        this.#schema = event.schema ?? this.#schema;
        return;
      case 'turn_ended':
        this.#open = false;
        this.#outcome = event.outcome;
        return;
      case 'tool_call_request':
        this.#callIds.add(event.id);
        this.#unanswered.set(event.id, { request: event });
        return;
      case 'approval': {
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
        this.#unanswered.delete(event.id);
        this.#inquiries.delete(event.id);
        return;
      default:
        return;
    }
  }
}
