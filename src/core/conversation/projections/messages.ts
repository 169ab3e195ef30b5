// Projects the log to the model's messages, each event once. `models/` maps them to the form of an endpoint.
import { type Attachment, type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type ImageReference, type ModelMessage, type ToolCall } from '../../ports/modelMessages.ts';
import { type QueuedMessage } from '../../ports/ports.ts';
import { imagesIn, withAttachments } from '../attachments.ts';

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;

/** The content of a system request. */
export const SYSTEM_REQUEST = 'Automated event. No person wrote this and it approves nothing.';

/** Replaces a result that a damaged log has lost: endpoints refuse a call without a result. */
const LOST_RESULT = 'The result of this call is not in the log any more.';

/**
 * Whatever is missing from the log, a request made of these messages is valid: an assistant message is followed by
 * exactly one result for each of its calls, no result is elsewhere, and only the last result of an answer has a block.
 */
export class Messages {
  #messages: ModelMessage[] = [];
  /** The first event of each message, parallel to the messages. */
  #seqs: number[] = [];
  /** Calls of the last assistant message without a result. */
  readonly #awaited = new Set<string>();
  /** The events of one model call form one message, which stays open until the call ends. */
  #open = false;
  #lastSeq = 0;

  /** A copy: later events do not change it. */
  get all(): readonly ModelMessage[] {
    return this.#awaited.size === 0
      ? this.#messages.slice()
      : this.#messages.toSpliced(this.#resultsFrom(), 0, ...this.#lostResults());
  }

  get count(): number {
    return this.#messages.length;
  }

  /** Must run before `Pending.fold`, so that `textOf` still finds the queued messages of a carrier. */
  fold(event: LogEvent, textOf: (id: string) => QueuedMessage | undefined): void {
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
   * The last end of a cycle that has at least `keep` messages after it and separates no result from its call. Undefined
   * if there is none, or if no message would be before it.
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
    this.#fillLostResults();
    const { content, attachments } = event;
    // Queued messages that became the request itself are in `user_text` too.
    const images = imagesIn([...(attachments ?? []), ...carriedAttachments(event, textOf)]);
    const message = { role: 'user', content: withAttachments(content, attachments) } as const;
    this.#add(event.seq, withBlock({ ...message, ...(images.length > 0 && { images }) }, event));
  }

  /**
   * A result without its call, which occurs only in a damaged log, is left out; the notifications it carries are still
   * delivered.
   */
  #response(event: EventOf<'tool_call_response'>, textOf: TextOf): void {
    this.#open = false;
    const found = imagesIn(carriedAttachments(event, textOf));
    const images = found.length > 0 && { images: found };
    const carries = found.length > 0 || (event.notifications !== undefined && event.notifications.text !== '');
    const { id: call, content } = event;
    const isAwaited = this.#awaited.delete(call);
    // The carrier completes its batch. Its block may become a separate message, which no result may follow.
    if (carries) this.#fillLostResults();
    if (isAwaited) {
      const failed = event.is_error && { failed: true as const };
      const results = event.images && { resultImages: event.images.map(imageOfResult) };
      this.#add(event.seq, withBlock({ role: 'tool', call, content, ...failed, ...images, ...results }, event));
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
      this.#fillLostResults();
      this.#add(event.seq, extended({ role: 'assistant', content: '', calls: [] }, content, call));
    }
    if (call !== undefined) this.#awaited.add(call.id);
    this.#open = true;
  }

  /** Inserts lost results before the present ones, so that the block of the last one stays at the end. */
  #fillLostResults(): void {
    if (this.#awaited.size === 0) return;
    const from = this.#resultsFrom();
    const lost = this.#lostResults();
    this.#messages.splice(from, 0, ...lost);
    this.#seqs.splice(from, 0, ...lost.map(() => this.#seqs[from - 1] ?? 0));
    this.#awaited.clear();
  }

  /** The index of the first result of the last assistant message. */
  #resultsFrom(): number {
    return this.#messages.findLastIndex(({ role }) => role === 'assistant') + 1;
  }

  #lostResults(): ModelMessage[] {
    return [...this.#awaited].map((call) => ({ role: 'tool', call, content: LOST_RESULT }));
  }

  #compact(event: EventOf<'compaction'>): void {
    this.#open = false;
    this.#fillLostResults();
    const first = this.#seqs.findIndex((seq) => seq > event.through);
    let kept = first === -1 ? this.#messages.length : first;
    // A result cannot be sent without its call.
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
type TextOf = (id: string) => QueuedMessage | undefined;

/** The attachments of queued messages in the block. */
function carriedAttachments({ notifications }: Carrier, textOf: TextOf): readonly Attachment[] {
  return (notifications?.user_text ?? []).flatMap((id) => textOf(id)?.attachments ?? []);
}

function withBlock<M extends ModelMessage>(message: M, carrier: Carrier): M {
  const { notifications: carried, event_id: id } = carrier;
  if (carried === undefined || carried.text === '') return message;
  const { format, text } = carried;
  return { ...message, block: format === 'synthetic-tool' ? { format, text, id } : { format, text } };
}

function imageOfResult(image: NonNullable<EventOf<'tool_call_response'>['images']>[number]): ImageReference {
  return { hash: image.hash, mediaType: image.media_type, name: image.name };
}
