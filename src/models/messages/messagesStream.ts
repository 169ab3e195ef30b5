// Turns the events of a Messages stream into parts of an answer and its content blocks. Pure.
import { defined } from '../../base/json/defined.ts';
import { type ModelPart } from '../../core/ports/ports.ts';
import { TooLargeError } from '../../node/boundedBody.ts';
import { type Usage } from '../../protocol/event.ts';
import { EndpointError } from '../explain.ts';
import { type AnswerAccumulator } from '../wire/send.ts';
import { argumentsOf } from '../wire/callIds.ts';
import { isJson } from '../wire/wholeJson.ts';

/** A limit that no real answer reaches. */
const MOST_BLOCKS = 1000;

/** The status that the type of an error means. */
const STATUS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The fields that are read; servers add and omit fields freely. */
interface LooseEvent {
  readonly type?: unknown;
  readonly index?: unknown;
  readonly message?: LooseMessage | null;
  readonly content_block?: LooseBlock | null;
  readonly delta?: LooseDelta | null;
  readonly usage?: LooseUsage | null;
}

interface LooseMessage {
  readonly id?: unknown;
  readonly diagnostics?: { readonly cache_miss_reason?: unknown } | null;
  readonly content?: unknown;
  readonly stop_reason?: unknown;
  readonly stop_details?: unknown;
  readonly usage?: LooseUsage | null;
  readonly input_transformations?: unknown;
}

type LooseBlock = Readonly<Record<string, unknown>>;

interface LooseDelta {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly partial_json?: unknown;
  readonly thinking?: unknown;
  readonly signature?: unknown;
  readonly citation?: unknown;
  readonly stop_reason?: unknown;
  readonly stop_details?: unknown;
}

interface LooseUsage {
  readonly input_tokens?: unknown;
  readonly output_tokens?: unknown;
  readonly cache_read_input_tokens?: unknown;
  readonly cache_creation_input_tokens?: unknown;
}

interface GrowingBlock {
  readonly block: Record<string, unknown>;
  /** The position of a call among the calls. */
  readonly place: number;
  json: string;
}

export class MessagesAccumulator implements AnswerAccumulator {
  readonly #blocks = new Map<number, GrowingBlock>();
  readonly #shown = { text: new Set<number>(), reasoning: new Set<number>() };
  #usage: Record<string, number> = {};
  #reason: string | undefined;
  #details: unknown;
  #stopped = false;
  /** What the server has changed in the request, such as thinking that it has dropped. */
  transformations: readonly unknown[] = [];
  /** The id of the answer; empty: it has none. */
  id = '';
  /** Why the endpoint could not read the whole beginning of the request from its cache. */
  missed: object | undefined;

  take(event: LooseEvent): ModelPart[] {
    const index = typeof event.index === 'number' ? event.index : -1;
    switch (event.type) {
      case 'message_start':
        this.#note(event.message ?? {});
        return [];
      case 'content_block_start':
        return this.#begin(index, event.content_block ?? {});
      case 'content_block_delta':
        return this.#grow(index, event.delta ?? {});
      case 'message_delta':
        this.#note({ ...event.delta, ...defined({ usage: event.usage }) });
        return [];
      case 'message_stop':
        this.#stopped = true;
        return [];
      case 'message':
        return this.#whole(event);
      default:
        return [];
    }
  }

  get isFinished(): boolean {
    return this.#stopped || this.#reason !== undefined;
  }

  get isComplete(): boolean {
    return this.#stopped;
  }

  errorIn(error: object): Error {
    const { type, message } = error as { type?: unknown; message?: unknown };
    const name = textOf(type);
    return new EndpointError(textOf(message) || name, { status: STATUS[name] ?? 500, code: name });
  }

  get stopReason(): string | undefined {
    return this.#reason;
  }

  /** The category and the explanation of a refusal. */
  get stopDetails(): string {
    const { category, explanation } = (this.#details ?? {}) as { category?: unknown; explanation?: unknown };
    return [textOf(category), textOf(explanation)].filter((text) => text !== '').join(': ');
  }

  /** The content blocks in their order, as the server sent them. */
  get items(): readonly LooseBlock[] {
    return [...this.#blocks].sort(([a], [b]) => a - b).map(([, growing]) => finishedBlock(growing));
  }

  /** Whether there is a text or a call; an answer may consist of thinking only, or of nothing. */
  get hasAnswer(): boolean {
    return this.items.some(({ type, text }) => type === 'tool_use' || textOf(text).trim() !== '');
  }

  get isTruncated(): boolean {
    return this.#reason === 'max_tokens';
  }

  end(): ModelPart[] {
    const calls = [...this.#blocks.values()].filter(({ block }) => block['type'] === 'tool_use');
    // A call that was cut by the token limit is incomplete.
    const whole = this.isTruncated ? calls.filter(({ json }) => isJson(json)) : calls;
    const usage = toUsage(this.#usage);
    return [
      ...whole.map(({ block, json }) => ({
        type: 'tool_call' as const,
        id: textOf(block['id']),
        name: textOf(block['name']),
        arguments: json === '' ? JSON.stringify(block['input'] ?? {}) : json,
      })),
      { type: 'finished', ...defined({ usage }), ...(this.isTruncated && { truncated: true }) },
    ];
  }

  #note({ id, diagnostics, stop_reason: reason, stop_details: details, usage, ...more }: LooseMessage): void {
    const { input_transformations: changed } = more;
    if (typeof id === 'string') this.id = id;
    const missed = diagnostics?.cache_miss_reason;
    if (typeof missed === 'object' && missed !== null) this.missed = missed;
    if (typeof reason === 'string') this.#reason = reason;
    if (details !== undefined && details !== null) this.#details = details;
    if (Array.isArray(changed)) this.transformations = changed;
    for (const [name, value] of Object.entries(usage ?? {})) {
      // The counts are cumulative: a later one replaces an earlier one.
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) this.#usage[name] = value;
    }
  }

  #begin(index: number, block: LooseBlock): ModelPart[] {
    const known = this.#blocks.get(index)?.block;
    if (block['type'] === 'tool_use' && known?.['type'] === 'tool_use' && known['id'] === block['id']) return [];
    const place = [...this.#blocks.values()].filter((one) => one.block['type'] === 'tool_use').length;
    this.#blocks.set(index, { block: { ...block }, place, json: '' });
    if (this.#blocks.size > MOST_BLOCKS) throw new TooLargeError(`it has more than ${MOST_BLOCKS} content blocks`);
    if (block['type'] === 'tool_use')
      return [{ type: 'writing_call', index: place, name: textOf(block['name']), text: '' }];
    return [
      ...this.#show('text', index, textOf(block['text'])),
      ...this.#show('reasoning', index, textOf(block['thinking'])),
    ];
  }

  #grow(index: number, delta: LooseDelta): ModelPart[] {
    const growing = this.#blocks.get(index);
    if (growing === undefined) return [];
    const { block } = growing;
    const append = (field: string, more: string) => {
      block[field] = textOf(block[field]) + more;
      return more;
    };
    switch (delta.type) {
      case 'text_delta':
        return this.#show('text', index, append('text', textOf(delta.text)));
      case 'thinking_delta':
        return this.#show('reasoning', index, append('thinking', textOf(delta.thinking)));
      case 'signature_delta':
        append('signature', textOf(delta.signature));
        return [];
      case 'citations_delta':
        block['citations'] = [
          ...(Array.isArray(block['citations']) ? (block['citations'] as unknown[]) : []),
          delta.citation,
        ];
        return [];
      case 'input_json_delta': {
        const text = textOf(delta.partial_json);
        growing.json += text;
        return [{ type: 'writing_call', index: growing.place, name: textOf(block['name']), text }];
      }
      default:
        return [];
    }
  }

  /** Separates the texts of different blocks, which the neutral message joins. */
  #show(type: 'text' | 'reasoning', index: number, text: string): ModelPart[] {
    if (text === '') return [];
    const isNext = this.#shown[type].size > 0 && !this.#shown[type].has(index);
    this.#shown[type].add(index);
    return [{ type, text: isNext ? `\n\n${text}` : text }];
  }

  /** A server that cannot stream sends the message itself. */
  #whole(message: LooseMessage): ModelPart[] {
    this.#note(message);
    this.#stopped = true;
    const content = Array.isArray(message.content) ? (message.content as LooseBlock[]) : [];
    return content.flatMap((block, index) => this.#begin(index, block));
  }
}

/** A call without any JSON has an empty object as its input. */
function finishedBlock({ block, json }: GrowingBlock): LooseBlock {
  return json === '' ? block : { ...block, input: argumentsOf(json) ?? { INVALID_JSON: json } };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toUsage(counts: Readonly<Record<string, number>>): Usage | undefined {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = counts;
  if (input === undefined) return undefined;
  return {
    input_tokens: input + (read ?? 0) + (written ?? 0),
    output_tokens: counts['output_tokens'] ?? 0,
    ...defined({ cached_tokens: read, written_tokens: written }),
  };
}
