// Projects the log to what the model reads: events → messages, each event once. How an endpoint wants them is models/'s.
import { type Attachment, type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type ModelMessage, type ToolCall } from '../../ports/modelMessages.ts';
import { type QueuedText } from '../../ports/ports.ts';
import { imagesIn, withAttachments } from '../attachments.ts';

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/** The text by which a system request says what it is. */
export const SYSTEM_REQUEST = 'Automated event. No person wrote this and it approves nothing.';

/** Stands where a damaged log has no result: every endpoint refuses a call without one. */
const LOST_RESULT = 'The result of this call is not in the log any more.';

/**
 * Whatever is missing from the log, a request made of these messages is valid: behind an assistant message stands exactly
 * one result for each of its calls, no result stands elsewhere, and what rides a result rides the last one of its answer.
 */
export class Messages {
  #messages: ModelMessage[] = [];
  /** The event with which each message began, in step with the messages. */
  #seqs: number[] = [];
  /** Calls of the last assistant message whose result has not come. */
  readonly #awaited = new Set<string>();
  /** What one model call says arrives as several events and is one message until that call's end. */
  #open = false;
  #lastSeq = 0;

  /** As they are now; later events do not change what was returned. */
  get all(): readonly ModelMessage[] {
    return this.#awaited.size === 0
      ? this.#messages.slice()
      : this.#messages.toSpliced(this.#resultsFrom(), 0, ...this.#lostResults());
  }

  get count(): number {
    return this.#messages.length;
  }

  /** `textOf` finds the user's words that a carrier carries before they are cleared. */
  fold(event: LogEvent, textOf: (id: string) => QueuedText | undefined): void {
    this.#lastSeq = event.seq;
    switch (event.type) {
      case 'chat_request':
        return this.#request(event, textOf);
      case 'tool_call_response':
        return this.#response(event, textOf);
      case 'chat_response':
        return event.message === undefined || event.message === '' ? undefined : this.#extend(event, event.message);
      case 'tool_call_request':
        return this.#extend(event, '', toolCall(event));
      case 'model_call':
        this.#open = false;
        return;
      case 'compaction':
        return this.#compact(event);
      default:
        return;
    }
  }

  /**
   * The last event of a cycle such that at least `keep` messages begin after it, none of them without what it belongs
   * to; undefined if there is no such event or nothing would be left before it.
   */
  cycleEnd(keep: number): number | undefined {
    if (this.#open || this.#awaited.size > 0) return undefined;
    let index = this.#messages.length - keep;
    // A result stays with the call it answers.
    while (index > 0 && this.#messages[index]?.role === 'tool') index -= 1;
    if (index <= 0) return undefined;
    const next = this.#seqs[index];
    return next === undefined ? this.#lastSeq : next - 1;
  }

  #add(seq: number, message: ModelMessage): void {
    this.#messages.push(message);
    this.#seqs.push(seq);
  }

  #request(event: EventOf<'chat_request'>, textOf: TextOf): void {
    this.#open = false;
    this.#giveUpAwaited();
    const { content, attachments } = event;
    // Queued words that became the request itself are named by it too.
    const images = imagesIn([...(attachments ?? []), ...carriedAttachments(event, textOf)]);
    const message = { role: 'user', content: withAttachments(content, attachments) } as const;
    this.#add(event.seq, withBlock({ ...message, ...(images.length > 0 && { images }) }, event));
  }

  /** A result without its call, which only a damaged log has, is left out; what it carries is still told. */
  #response(event: EventOf<'tool_call_response'>, textOf: TextOf): void {
    this.#open = false;
    const found = imagesIn(carriedAttachments(event, textOf));
    const images = found.length > 0 && { images: found };
    const carries = found.length > 0 || (event.notifications !== undefined && event.notifications.text !== '');
    const { id: call, content } = event;
    const isAwaited = this.#awaited.delete(call);
    // The carrier completes its batch. What it carries may become a message of its own: no result may follow it.
    if (carries) this.#giveUpAwaited();
    if (isAwaited) {
      const failed = event.is_error && { failed: true as const };
      this.#add(event.seq, withBlock({ role: 'tool', call, content, ...failed, ...images }, event));
    } else if (carries) {
      this.#add(event.seq, withBlock({ role: 'user', content: SYSTEM_REQUEST, ...images }, event));
    }
  }

  #extend(event: LogEvent, content: string, call?: ToolCall): void {
    const last = this.#messages.at(-1);
    if (this.#open && last?.role === 'assistant') {
      if (call !== undefined && last.calls.some(({ id }) => id === call.id)) return;
      this.#messages[this.#messages.length - 1] = extended(last, content, call);
    } else {
      this.#giveUpAwaited();
      this.#add(event.seq, extended({ role: 'assistant', content: '', calls: [] }, content, call));
    }
    if (call !== undefined) this.#awaited.add(call.id);
    this.#open = true;
  }

  /** In front of the results that have come: what the last of them carries stays behind all of them. */
  #giveUpAwaited(): void {
    if (this.#awaited.size === 0) return;
    const from = this.#resultsFrom();
    const lost = this.#lostResults();
    this.#messages.splice(from, 0, ...lost);
    this.#seqs.splice(from, 0, ...lost.map(() => this.#seqs[from - 1] ?? 0));
    this.#awaited.clear();
  }

  /** Where the results of the last assistant message begin. */
  #resultsFrom(): number {
    return this.#messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  }

  #lostResults(): ModelMessage[] {
    return [...this.#awaited].map((call) => ({ role: 'tool', call, content: LOST_RESULT }));
  }

  #compact(event: EventOf<'compaction'>): void {
    this.#open = false;
    this.#giveUpAwaited();
    const first = this.#seqs.findIndex((seq) => seq > event.through);
    let kept = first === -1 ? this.#messages.length : first;
    // Without its call a result cannot be sent.
    while (this.#messages[kept]?.role === 'tool') kept += 1;
    this.#messages = [{ role: 'user', content: event.summary }, ...this.#messages.slice(kept)];
    this.#seqs = [event.through, ...this.#seqs.slice(kept)];
  }
}

function extended(before: AssistantMessage, content: string, call: ToolCall | undefined): AssistantMessage {
  return {
    role: 'assistant',
    content: before.content + content,
    calls: call === undefined ? before.calls : [...before.calls, call],
  };
}

function toolCall(event: EventOf<'tool_call_request'>): ToolCall {
  return { id: event.id, name: event.name, arguments: event.arguments_text ?? JSON.stringify(event.arguments) };
}

type Carrier = EventOf<'chat_request'> | EventOf<'tool_call_response'>;
type TextOf = (id: string) => QueuedText | undefined;

/** What was attached to the user's words in the block. */
function carriedAttachments({ notifications }: Carrier, textOf: TextOf): readonly Attachment[] {
  return (notifications?.user_text ?? []).flatMap((id) => textOf(id)?.attachments ?? []);
}

function withBlock<M extends ModelMessage>(message: M, carrier: Carrier): M {
  const { notifications: carried, event_id: id } = carrier;
  if (carried === undefined || carried.text === '') return message;
  const { format, text } = carried;
  return { ...message, block: format === 'synthetic-tool' ? { format, text, id } : { format, text } };
}
