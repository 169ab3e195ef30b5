// Projects the log to the model's messages, each event once. `models/` maps them to the form of an endpoint.
import { defined } from '../../../base/json/defined.ts';
import { type Attachment, type Carried, type EventOf, type LogEvent } from '../../../protocol/event.ts';
import { type ModelMessage, type ToolCall } from '../../ports/modelMessages.ts';
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
  /** An event of the open message, or the one before it, is missing from the log. */
  #hasGap = false;
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
    const follows = event.seq === this.#lastSeq + 1;
    this.#hasGap = !follows || (this.#open && this.#hasGap);
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
        this.#finish(event);
        return;
      case 'compaction':
        return this.#compact(event);
      case 'results_dropped':
        return this.#dropResults(event.through);
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
    const text = withAttachments(content, attachments);
    // Here and not in the system prompt, which must stay the same for turns with and without a schema.
    const asked = event.schema === undefined ? text : `${text}\n\n${schemaInstruction(event.schema)}`;
    const message = { role: 'user', content: asked, ...laterTexts(event) } as const;
    this.#add(event.seq, withCarried({ ...message, ...(images.length > 0 && { images }) }, event));
  }

  /**
   * A result without its call, which occurs only in a damaged log, is left out; the notifications it carries are still
   * delivered.
   */
  #response(event: EventOf<'tool_call_response'>, textOf: TextOf): void {
    this.#open = false;
    const found = imagesIn(carriedAttachments(event, textOf));
    const images = found.length > 0 && { images: found };
    const carries = found.length > 0 || isCarrier(event);
    const { id: call, content } = event;
    const isAwaited = this.#awaited.delete(call);
    // The carrier completes its batch. Its block may become a separate message, which no result may follow.
    if (carries) this.#fillLostResults();
    if (isAwaited) {
      const failed = event.is_error && { failed: true as const };
      const result = { role: 'tool', call, content, ...failed, ...images, ...laterTexts(event) } as const;
      this.#add(event.seq, withCarried({ ...result, ...addedBy(event) }, event));
    } else if (carries) {
      this.#add(event.seq, withCarried({ role: 'user', content: SYSTEM_REQUEST, ...images }, event));
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

  /**
   * The model call that ends an answer has its form in the API; calls for a title, a summary or a subagent have none. If
   * a call of the answer is lost, that form would contain a call without a result.
   */
  #finish({ origin, outcome, failure }: EventOf<'model_call'>): void {
    const last = this.#messages.at(-1);
    // With half of a refused answer in the conversation, models refuse what follows, too.
    if (this.#open && failure?.code === 'content_refused' && last?.role === 'assistant' && last.calls.length === 0) {
      this.#messages.pop();
      this.#seqs.pop();
    }
    const isWhole = this.#open && !this.#hasGap && outcome === 'succeeded';
    if (isWhole && last?.role === 'assistant' && origin !== undefined) {
      this.#messages[this.#messages.length - 1] = { ...last, origin };
    }
    this.#open = false;
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
    const summary = { role: 'user', content: event.summary, ...laterTexts(event) } as const;
    this.#messages = [summary, ...this.#messages.slice(kept).map(withoutPrefix)];
    this.#seqs = [event.through, ...this.#seqs.slice(kept)];
  }

  #dropResults(through: number): void {
    this.#messages = this.#messages.map((message, index) => {
      const isOld = (this.#seqs[index] ?? 0) <= through;
      return withoutPrefix(isOld && message.role === 'tool' ? withoutResult(message) : message);
    });
  }
}

/** Shorter results stay: replacing them would free nothing. In characters. */
const SHORT_RESULT = 300;

export function isLongResult(message: ModelMessage): boolean {
  return message.role === 'tool' && message.content.length > SHORT_RESULT;
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;

/** Notifications and messages of the user that came with the result stay. */
function withoutResult(message: ToolMessage): ToolMessage {
  if (!isLongResult(message)) return message;
  const content = `(This result of ${message.content.length} characters was removed to make room. Call the tool again if you need it.)`;
  const { resultImages: _, ...others } = message;
  return { ...others, content };
}

/** What an API returned is bound to the messages before it, and found tools become part of the new prefix. */
function withoutPrefix(message: ModelMessage): ModelMessage {
  if (message.role === 'assistant') {
    if (message.origin === undefined) return message;
    const { origin: _, ...neutral } = message;
    return neutral;
  }
  if (message.role === 'user' || message.found === undefined) return message;
  const { found: _, ...others } = message;
  return others;
}

/** Later instructions are read like messages of the user. */
function laterTexts({ instructions = [] }: Pick<EventOf<'chat_request'>, 'instructions'>): Pick<ToolMessage, 'queued'> {
  return instructions.length === 0 ? {} : { queued: instructions.map(({ text }) => text) };
}

/** The tools that a call found, and the images that it shows. */
function addedBy({ found, images }: EventOf<'tool_call_response'>): Pick<ToolMessage, 'found' | 'resultImages'> {
  return {
    ...(found !== undefined && { found: found.map(({ name }) => name) }),
    ...(images !== undefined && {
      resultImages: images.map(({ hash, media_type: mediaType, name, tokens }) => ({
        ...{ hash, mediaType, name },
        ...defined({ tokens }),
      })),
    }),
  };
}

export function schemaInstruction(schema: Readonly<Record<string, unknown>>): string {
  return `Your final answer must be JSON that fits this JSON Schema, and nothing else: ${JSON.stringify(schema)}`;
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

/** The attachments of queued messages. */
function carriedAttachments({ notifications }: Carrier, textOf: TextOf): readonly Attachment[] {
  return (notifications?.user_text ?? []).flatMap((id) => textOf(id)?.attachments ?? []);
}

function isCarrier({ notifications: carried }: Carrier): boolean {
  return carried !== undefined && (carried.text !== '' || (carried.user ?? []).length > 0);
}

function withCarried<M extends Exclude<ModelMessage, { role: 'assistant' }>>(message: M, carrier: Carrier): M {
  const { notifications: carried, event_id: id } = carrier;
  if (carried === undefined || !isCarrier(carrier)) return message;
  const { format, text, user = [] } = carried;
  return {
    ...message,
    ...(text !== '' && { block: { format: placeOf(carried), text, ...(format === 'synthetic-tool' && { id }) } }),
    ...(user.length > 0 && { queued: [...(message.queued ?? []), ...user] }),
  };
}

/** Earlier versions put text of others and the user's messages into a developer's block, unquoted. */
function placeOf({ format, user }: Carried): Carried['format'] {
  return format === 'developer' && user === undefined ? 'xml' : format;
}
