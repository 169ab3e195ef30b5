// Turns the events of a Responses stream into parts of an answer and its output items. Pure.
import { defined } from '../../base/json/defined.ts';
import { type ModelPart } from '../../core/ports/ports.ts';
import { TooLargeError } from '../../node/boundedBody.ts';
import { type Usage } from '../../protocol/event.ts';
import { EndpointError } from '../explain.ts';
import { type AnswerAccumulator } from '../wire/send.ts';
import { isJson } from '../wire/wholeJson.ts';

/** A limit that no real answer reaches. */
const MOST_ITEMS = 1000;

/** The status that a code inside a stream means; others are not repeated. */
const STATUS: Readonly<Record<string, number>> = {
  server_error: 500,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
};

/** The fields that are read; servers add and omit fields freely. */
interface LooseEvent {
  readonly type?: unknown;
  readonly object?: unknown;
  readonly output_index?: unknown;
  readonly item?: LooseItem | null;
  readonly delta?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly response?: LooseResponse | null;
}

interface LooseItem {
  readonly type?: unknown;
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly content?: unknown;
}

const OF_ITEMS = /^response\.(?:output_|refusal|reasoning_|function_call)/;

/** The position of an item whose events name none: such servers send one item after the other. */
class Counted {
  #last = -1;
  #isOpen = false;

  next({ type }: LooseEvent): number {
    if (typeof type !== 'string' || !OF_ITEMS.test(type)) return -1;
    const begins = type === 'response.output_item.added';
    if (begins || !this.#isOpen) this.#last += 1;
    this.#isOpen = type !== 'response.output_item.done';
    return this.#last;
  }
}

interface LoosePart {
  readonly text?: unknown;
  readonly refusal?: unknown;
}

interface LooseResponse {
  readonly status?: unknown;
  readonly output?: readonly LooseItem[] | null;
  readonly usage?: LooseUsage | null;
  readonly error?: { readonly code?: unknown; readonly message?: unknown } | null;
  readonly incomplete_details?: { readonly reason?: unknown } | null;
}

interface LooseUsage {
  readonly input_tokens?: unknown;
  readonly output_tokens?: unknown;
  readonly input_tokens_details?: { readonly cached_tokens?: unknown; readonly cache_write_tokens?: unknown } | null;
}

export class ResponsesAccumulator implements AnswerAccumulator {
  readonly #items = new Map<number, LooseItem>();
  /** Items of which text or reasoning was shown, by kind. */
  readonly #shown = { text: new Set<number>(), reasoning: new Set<number>() };
  /** The position of each call among the calls. */
  readonly #places = new Map<number, number>();
  readonly #counted = new Counted();
  #response: LooseResponse | undefined;
  #usage: Usage | undefined;

  take(event: LooseEvent): ModelPart[] {
    const index = typeof event.output_index === 'number' ? event.output_index : this.#counted.next(event);
    switch (event.type) {
      case 'response.output_item.added':
        return event.item?.type === 'function_call' ? [this.#writing(index, event.item, '')] : [];
      case 'response.function_call_arguments.delta':
        return [this.#write(index, textOf(event.delta))];
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.#show('text', index, textOf(event.delta));
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#show('reasoning', index, textOf(event.delta));
      case 'response.reasoning_summary_part.added':
        return this.#shown.reasoning.has(index) ? [{ type: 'reasoning', text: '\n\n' }] : [];
      case 'response.output_item.done':
        return this.#keep(index, event.item);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#end(event.response ?? {});
      case 'error':
        throw errorOf(event.code, event.message);
      default:
        // A server that cannot stream sends the response itself.
        return event.object === 'response' ? this.#end(event as LooseResponse) : [];
    }
  }

  get isFinished(): boolean {
    return this.#response !== undefined;
  }

  get isComplete(): boolean {
    return this.isFinished;
  }

  errorIn(error: object): Error {
    const { code, type, message } = error as { code?: unknown; type?: unknown; message?: unknown };
    return errorOf(code ?? type, message);
  }

  /** The output items in their order, as the server sent them. */
  get items(): readonly unknown[] {
    return [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
  }

  /** Whatever limit ended it: the last item may be cut. */
  get isTruncated(): boolean {
    const { status, incomplete_details: details } = this.#response ?? {};
    return status === 'incomplete' || typeof details?.reason === 'string';
  }

  end(): ModelPart[] {
    const calls = (this.items as readonly LooseItem[]).filter(({ type }) => type === 'function_call');
    // A call that was cut by the token limit is incomplete.
    const whole = this.isTruncated ? calls.filter(({ arguments: text }) => isJson(textOf(text))) : calls;
    return [
      ...whole.map((call) => ({
        type: 'tool_call' as const,
        id: textOf(call.call_id),
        name: textOf(call.name),
        arguments: textOf(call.arguments),
      })),
      {
        type: 'finished',
        ...defined({ usage: this.#usage }),
        ...(this.isTruncated && { truncated: true }),
      },
    ];
  }

  /** The arguments grow until the whole item comes, which some servers leave out. */
  #write(index: number, text: string): ModelPart {
    const item = this.#items.get(index);
    return this.#writing(index, item && { ...item, arguments: textOf(item.arguments) + text }, text);
  }

  #writing(index: number, item: LooseItem | undefined, text: string): ModelPart {
    const place = this.#places.get(index) ?? this.#places.size;
    this.#places.set(index, place);
    if (item !== undefined) this.#set(index, item);
    return { type: 'writing_call', index: place, name: textOf(item?.name), text };
  }

  /** Separates the texts of different items, which the neutral message joins. */
  #show(type: 'text' | 'reasoning', index: number, text: string): ModelPart[] {
    if (text === '') return [];
    const isNext = this.#shown[type].size > 0 && !this.#shown[type].has(index);
    this.#shown[type].add(index);
    return [{ type, text: isNext ? `\n\n${text}` : text }];
  }

  /** A call with a known id is that call, wherever it comes. */
  #set(index: number, item: LooseItem): void {
    if (item.type === 'function_call' && textOf(item.call_id) !== '')
      for (const [other, { type, call_id: id }] of this.#items)
        if (other !== index && type === 'function_call' && id === item.call_id) this.#items.delete(other);
    this.#items.set(index, item);
    if (this.#items.size > MOST_ITEMS) throw new TooLargeError(`it has more than ${MOST_ITEMS} output items`);
  }

  /** Returns the text of an item whose deltas were not sent. */
  #keep(index: number, item: LooseItem | null | undefined): ModelPart[] {
    if (item === null || item === undefined) return [];
    this.#set(index, item);
    return this.#shown.text.has(index) ? [] : this.#show('text', index, textIn(item));
  }

  /** Where the item of a whole response was streamed: at the same index, or at that of the same item. */
  #placeOf(item: LooseItem, index: number, taken: ReadonlySet<number>): number {
    const isSame = (place: number) => {
      const known = this.#items.get(place);
      return known !== undefined && !taken.has(place) && known.type === item.type && known.call_id === item.call_id;
    };
    if (isSame(index)) return index;
    const places = [...this.#items.keys()].sort((a, b) => a - b);
    return places.find(isSame) ?? (this.#items.has(index) ? Math.max(...places) + 1 : index);
  }

  #end(response: LooseResponse): ModelPart[] {
    this.#response = response;
    this.#usage = toUsage(response.usage);
    if (response.error) throw errorOf(response.error.code, response.error.message);
    if (response.status === 'failed') throw errorOf('server_error', 'the response failed');
    // Some servers add the encrypted reasoning only here; some send an empty list, or leave out items that they streamed.
    const output = Array.isArray(response.output) ? (response.output as readonly (LooseItem | null)[]) : [];
    const taken = new Set<number>();
    const parts = output.flatMap((item, index) => {
      if (typeof item !== 'object' || item === null) return [];
      const place = this.#placeOf(item, index, taken);
      taken.add(place);
      return this.#keep(place, item);
    });
    if (response.incomplete_details?.reason === 'content_filter') {
      throw errorOf('content_filter', 'its content filter stopped the answer');
    }
    return parts;
  }
}

function errorOf(code: unknown, message: unknown): EndpointError {
  // A failure of the server has no code.
  const name = textOf(code) || 'server_error';
  return new EndpointError(textOf(message) || name, { status: STATUS[name] ?? 400, code: name });
}

function textIn({ type, content }: LooseItem): string {
  if (type !== 'message' || !Array.isArray(content)) return '';
  return content.map((part: LoosePart | null) => textOf(part?.text ?? part?.refusal)).join('');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toUsage(usage: LooseUsage | null | undefined): Usage | undefined {
  const input = countOf(usage?.input_tokens);
  if (input === undefined) return undefined;
  const cached = countOf(usage?.input_tokens_details?.cached_tokens);
  const written = countOf(usage?.input_tokens_details?.cache_write_tokens);
  return {
    input_tokens: input,
    output_tokens: countOf(usage?.output_tokens) ?? 0,
    ...defined({ cached_tokens: cached, written_tokens: written }),
  };
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
