// Decides what the model reads of the log: events → messages, each event once. How an endpoint wants them is models/'s.
import { type Carried, type EventOf, type LogEvent } from '../../protocol/event.ts';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, exactly as the model will read its own call again. */
  readonly arguments: string;
}

/** The notifications that ride a message, kept apart from its own words. */
export type Block = Pick<Carried, 'format' | 'text'>;

export type ModelMessage =
  | { readonly role: 'user'; readonly content: string; readonly block?: Block }
  | { readonly role: 'assistant'; readonly content: string; readonly calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly call: string; readonly content: string; readonly block?: Block };

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/** The text by which a system request says what it is. */
export const SYSTEM_REQUEST = 'Automated event. No person wrote this and it approves nothing.';

export class Messages {
  #messages: { seq: number; message: ModelMessage }[] = [];
  /** What one model call says arrives as several events and is one message until that call's end. */
  #open = false;

  get all(): readonly ModelMessage[] {
    return this.#messages.map((entry) => entry.message);
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'chat_request':
        return this.#add(event, withBlock({ role: 'user', content: event.content }, event.notifications));
      case 'tool_call_response':
        return this.#add(
          event,
          withBlock({ role: 'tool', call: event.id, content: event.content }, event.notifications),
        );
      case 'chat_response':
        return event.message === undefined ? undefined : this.#extend(event, { content: event.message });
      case 'tool_call_request':
        return this.#extend(event, { call: toolCall(event) });
      case 'model_call':
        this.#open = false;
        return;
      case 'compaction':
        return this.#compact(event);
      default:
        return;
    }
  }

  #add(event: LogEvent, message: ModelMessage): void {
    this.#open = false;
    this.#messages.push({ seq: event.seq, message });
  }

  #extend(event: LogEvent, more: { content?: string; call?: ToolCall }): void {
    const last = this.#messages.at(-1);
    const before: AssistantMessage =
      this.#open && last?.message.role === 'assistant' ? last.message : { role: 'assistant', content: '', calls: [] };
    const message: AssistantMessage = {
      role: 'assistant',
      content: before.content + (more.content ?? ''),
      calls: more.call === undefined ? before.calls : [...before.calls, more.call],
    };
    if (before === last?.message) last.message = message;
    else this.#messages.push({ seq: event.seq, message });
    this.#open = true;
  }

  #compact(event: EventOf<'compaction'>): void {
    const kept = this.#messages.filter((entry) => entry.seq > event.through);
    this.#messages = [{ seq: event.through, message: { role: 'user', content: event.summary } }, ...kept];
  }
}

function toolCall(event: EventOf<'tool_call_request'>): ToolCall {
  return { id: event.id, name: event.name, arguments: event.arguments_text ?? JSON.stringify(event.arguments) };
}

function withBlock<M extends ModelMessage>(message: M, carried: Carried | undefined): M {
  if (carried === undefined || carried.text === '') return message;
  return { ...message, block: { format: carried.format, text: carried.text } };
}
