// Turns the chunks of an endpoint's stream into parts of an answer. Pure.
import { defined } from '../../base/json/defined.ts';
import { type ModelPart } from '../../core/ports/ports.ts';
import { TooLargeError } from '../../node/boundedBody.ts';
import { type Usage, type WireOrigin } from '../../protocol/event.ts';
import { StreamError } from '../explain.ts';
import { isJson, WholeJson } from '../wire/wholeJson.ts';
import { type ChatItem, mergeDetails, REASONING_FIELDS, type ReasoningField } from './chatOrigin.ts';

/** Limit for nested content parts; servers send one level. */
const DEEPEST_PARTS = 4;

/** Limits that no real answer reaches. The length of arguments is limited by the turn. */
const MOST_CALLS = 1000;
const LONGEST_NAME = 10_000;

interface GrowingCall {
  readonly index: number | undefined;
  /** Position among the calls, from 0. */
  readonly place: number;
  readonly whole: WholeJson;
  id: string;
  name: string;
  arguments: string;
  extra?: object;
}

interface LooseCall {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  readonly extra_content?: unknown;
}

/** The fields that are read from a chunk; servers omit, add and null fields freely. */
interface LooseChunk {
  readonly error?: unknown;
  readonly usage?: LooseUsage | null;
  /** llama.cpp. */
  readonly timings?: { readonly cache_n?: unknown } | null;
  readonly choices?: readonly ({
    readonly delta?: LooseDelta | null;
    readonly message?: LooseDelta | null;
    readonly finish_reason?: unknown;
    readonly usage?: LooseUsage | null;
  } | null)[];
}

interface LooseDelta {
  readonly content?: unknown;
  readonly refusal?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_text?: unknown;
  readonly reasoning_opaque?: unknown;
  readonly reasoning_details?: unknown;
  readonly thinking_blocks?: unknown;
  readonly tool_calls?: unknown;
}

interface LooseUsage {
  readonly prompt_tokens?: unknown;
  readonly completion_tokens?: unknown;
  readonly prompt_tokens_details?: { readonly cached_tokens?: unknown; readonly cache_write_tokens?: unknown } | null;
  /** DeepSeek. */
  readonly prompt_cache_hit_tokens?: unknown;
  /** Moonshot AI. */
  readonly cached_tokens?: unknown;
  /** OpenRouter, in US dollars. */
  readonly cost?: unknown;
}

/** The endpoint and model that answer. */
interface AnswerSource {
  readonly provider: string;
  readonly model: string;
  readonly contextWindow: number;
}

/** Some servers cut a request that is too long, and then have no room for an answer. */
const FULL_WINDOW = 0.95;

type Meaning = 'whole' | 'truncated' | Extract<StreamError['kind'], 'refused' | 'interrupted' | 'overflow'>;

function meaningOf(
  reason: string | undefined,
  hasOutput: boolean,
  { fillsWindow, isAbove }: { readonly fillsWindow: boolean; readonly isAbove: boolean },
): Meaning {
  // Whatever such a server calls the end, it has nothing to say about a request that it could not read.
  if (!hasOutput && isAbove) return 'overflow';
  switch (reason) {
    case 'length':
      return !hasOutput && fillsWindow ? 'overflow' : 'truncated';
    case 'model_context_window_exceeded':
      return hasOutput ? 'truncated' : 'overflow';
    case 'content_filter':
    case 'sensitive':
      return 'refused';
    case 'error':
    case 'network_error':
      return 'interrupted';
    default:
      // Servers name a normal end in many ways, or not at all.
      return 'whole';
  }
}

/**
 * Assembles a stream as servers really send it: tool-call indexes that are missing, all 0 or start at 1, several calls
 * in one delta, arguments as an object, `stop` as the finish reason although there are calls.
 */
export class StreamAccumulator {
  readonly #calls: GrowingCall[] = [];
  readonly #byIndex = new Map<number, GrowingCall>();
  /** The newest call with each id. */
  readonly #byId = new Map<string, GrowingCall>();
  #usage: Usage | undefined;
  #reason: string | undefined;
  #field: ReasoningField | undefined;
  #reasoning = '';
  #opaque = '';
  readonly #details: Readonly<Record<string, unknown>>[] = [];
  readonly #blocks: Readonly<Record<string, unknown>>[] = [];
  #hasText = false;
  readonly #source: AnswerSource;

  constructor(source: AnswerSource) {
    this.#source = source;
  }

  /** Takes the next chunk. Returns the parts that can be shown already. */
  take(chunk: LooseChunk): ModelPart[] {
    if (chunk.usage) this.#usage = toUsage(chunk.usage, chunk.timings?.cache_n) ?? this.#usage;
    // Some servers send usage in chunks without choices, or with an empty list.
    const choice = chunk.choices?.[0];
    if (choice === undefined || choice === null) return [];
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.#reason = choice.finish_reason;
    if (choice.usage) this.#usage = toUsage(choice.usage) ?? this.#usage;
    const delta = choice.delta ?? choice.message;
    const pieces = Array.isArray(delta?.tool_calls) ? (delta.tool_calls as readonly unknown[]) : [];
    const written = pieces.filter(isCall).map((call) => this.#grow(checked(call)));
    if (this.#calls.length > MOST_CALLS) {
      throw new TooLargeError(`it has more than ${MOST_CALLS.toLocaleString('en')} tool calls`);
    }
    const reasoning = this.#readReasoning(delta);
    const text = textInContent(delta?.content) || textInContent(delta?.refusal);
    if (text !== '') this.#hasText = true;
    const parts: ModelPart[] = [];
    if (reasoning !== '') parts.push({ type: 'reasoning', text: reasoning });
    if (text !== '') parts.push({ type: 'text', text });
    return [...parts, ...written];
  }

  /** Whether the server sent a finish reason. */
  get isFinished(): boolean {
    return this.#reason !== undefined;
  }

  /** Throws a StreamError if the finish reason means that there is no answer. */
  end(): ModelPart[] {
    const hasOutput = this.#hasText || this.#reasoning !== '' || this.#calls.length > 0;
    const meaning = meaningOf(this.#reason, hasOutput, this.#use);
    if (meaning !== 'whole' && meaning !== 'truncated') {
      throw new StreamError(meaning, `finish_reason ${JSON.stringify(this.#reason)}`);
    }
    const truncated = meaning === 'truncated';
    // A call that was cut by the token limit is incomplete.
    const calls = truncated ? this.#calls.filter((call) => isJson(call.arguments)) : this.#calls;
    const origin = truncated ? undefined : this.#origin();
    return [
      ...calls.map(({ id, name, arguments: text }) => ({ type: 'tool_call' as const, id, name, arguments: text })),
      {
        type: 'finished',
        ...defined({ usage: this.#usage }),
        ...(truncated && { truncated }),
        ...defined({ origin }),
      },
    ];
  }

  /** The reasoning of this piece, also if it comes as a part of the content. */
  #readReasoning(delta: LooseDelta | null | undefined): string {
    if (!delta) return '';
    mergeDetails(this.#details, delta.reasoning_details);
    mergeDetails(this.#blocks, delta.thinking_blocks);
    this.#opaque += textInContent(delta.reasoning_opaque);
    const field = REASONING_FIELDS.find((name) => textInContent(delta[name]) !== '');
    const text = field === undefined ? thinkingIn(delta.content) : textInContent(delta[field]);
    this.#field ??= field;
    this.#reasoning += text;
    return text;
  }

  get #use(): { readonly fillsWindow: boolean; readonly isAbove: boolean } {
    const { contextWindow } = this.#source;
    const read = this.#usage?.input_tokens ?? 0;
    return { fillsWindow: read >= contextWindow * FULL_WINDOW, isAbove: read > contextWindow };
  }

  #origin(): WireOrigin | undefined {
    const extras = this.#calls.map(({ extra }) => extra ?? null);
    const item: ChatItem = {
      ...(this.#field !== undefined && { [this.#field]: this.#reasoning }),
      ...(this.#opaque !== '' && { reasoning_opaque: this.#opaque }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(this.#blocks.length > 0 && { thinking_blocks: this.#blocks }),
      ...(extras.some((extra) => extra !== null) && { calls: extras }),
    };
    const { provider, model } = this.#source;
    return Object.keys(item).length === 0 ? undefined : { api: 'chat', provider, model, items: [item] };
  }

  #grow(delta: LooseCall): ModelPart {
    const id = textInContent(delta.id);
    const name = textInContent(delta.function?.name);
    const text = argumentsText(delta.function?.arguments);
    const index = typeof delta.index === 'number' ? delta.index : undefined;
    const extra =
      typeof delta.extra_content === 'object' && delta.extra_content !== null ? delta.extra_content : undefined;
    const known = this.#find(index, id, name);
    if (known === undefined) {
      const call: GrowingCall = { index, place: this.#calls.length, whole: new WholeJson(), id, name, arguments: text };
      if (extra !== undefined) call.extra = extra;
      call.whole.add(text);
      this.#calls.push(call);
      if (index !== undefined) this.#byIndex.set(index, call);
      if (id !== '') this.#byId.set(id, call);
      return { type: 'writing_call', index: call.place, name, text };
    }
    if (known.id === '' && id !== '') {
      known.id = id;
      this.#byId.set(id, known);
    }
    if (known.name === '') known.name = name;
    if (extra !== undefined) known.extra = extra;
    known.arguments += text;
    known.whole.add(text);
    return { type: 'writing_call', index: known.place, name: known.name, text };
  }

  /** The call with this id, else with this index, else the one that grew last. */
  #find(index: number | undefined, id: string, name: string): GrowingCall | undefined {
    const named = id === '' ? undefined : this.#byId.get(id);
    if (named !== undefined) return isDouble(named, index, name) ? undefined : named;
    const known = index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
    return known === undefined || startsAnother(known, id, name) ? undefined : known;
  }
}

function isCall(piece: unknown): piece is LooseCall {
  return typeof piece === 'object' && piece !== null;
}

function checked(call: LooseCall): LooseCall {
  const { id, function: called } = call;
  if ([id, called?.name].some((name) => textInContent(name).length > LONGEST_NAME)) {
    throw new TooLargeError(
      `the id or name of a tool call is longer than ${LONGEST_NAME.toLocaleString('en')} characters`,
    );
  }
  return call;
}

/** Whether this is another call with a known id: it has another index, or the first call is complete. */
function isDouble(known: GrowingCall, index: number | undefined, name: string): boolean {
  if (index !== undefined && known.index !== undefined && index !== known.index) return true;
  return name !== '' && known.whole.isWhole(known.arguments);
}

/** A new id, or a name after arguments have begun, starts another call. */
function startsAnother(known: GrowingCall, id: string, name: string): boolean {
  if (id !== '' && known.id !== '') return id !== known.id;
  return name !== '' && known.name !== '' && known.arguments !== '';
}

/** Content may be a list of parts, as from Mistral's reasoning models; only text is used. */
function textInContent(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value) || depth > DEEPEST_PARTS) return '';
  return value
    .map((part: unknown) =>
      typeof part === 'object' && part !== null && 'text' in part ? textInContent(part.text, depth + 1) : '',
    )
    .join('');
}

function argumentsText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Mistral's models send reasoning as parts of the content. */
function thinkingIn(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) =>
      typeof part === 'object' && part !== null && 'thinking' in part ? textInContent(part.thinking) : '',
    )
    .join('');
}

function toUsage(usage: LooseUsage, slotCached?: unknown): Usage | undefined {
  const input = countOf(usage.prompt_tokens);
  if (input === undefined) return undefined;
  const details = usage.prompt_tokens_details;
  const all = [details?.cached_tokens, usage.prompt_cache_hit_tokens, usage.cached_tokens, slotCached];
  const cached = all.map(countOf).find((count) => count !== undefined);
  const written = countOf(details?.cache_write_tokens);
  const { cost } = usage;
  return {
    input_tokens: input,
    output_tokens: countOf(usage.completion_tokens) ?? 0,
    ...defined({ cached_tokens: cached, written_tokens: written }),
    ...(typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 && { cost }),
  };
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
