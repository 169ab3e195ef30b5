// Decides what a conversation has used: tokens as the endpoint counted them, and between its counts our estimate, scaled by it.
import { type Carried, type EventOf, type LogEvent, type Usage } from '../../protocol/event.ts';
import { estimateTokens } from '../notify/tokens.ts';
import { type Prices } from '../ports.ts';
import { type ModelMessage } from './messages.ts';

/** A wild first count must not spoil the estimate. */
const LEAST_RATIO = 0.5;
const MOST_RATIO = 3;

export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

const none: Tokens = { input: 0, output: 0, cached: 0 };

export class Spent {
  readonly #byModel = new Map<string, Tokens>();
  /** What the model had read and said at the endpoint's last count. */
  #counted: number | undefined;
  /** Estimated, where nothing is counted: what stood there before `read` and `said`; undefined after a compaction. */
  #estimated: number | undefined = 0;
  /** Estimated tokens that came since: for the model to read, and from it. */
  #read = 0;
  #said = 0;
  /** Real tokens for one estimated. */
  #ratio = 1;
  #notifications = 0;
  #woken: Tokens = none;
  #systemTurn = false;

  get byModel(): ReadonlyMap<string, Tokens> {
    return this.#byModel;
  }

  get total(): Tokens {
    return [...this.#byModel.values()].reduce(add, none);
  }

  /** Of all that was read, what notifications took, once for each. */
  get notifications(): number {
    return Math.round(this.#notifications * this.#ratio);
  }

  /** What turns cost that no person began. */
  get woken(): Tokens {
    return this.#woken;
  }

  get ratio(): number {
    return this.#ratio;
  }

  /** How many tokens the next request will be. `overhead`: the system prompt and the tools, where nothing was counted yet. */
  contextTokens(messages: () => readonly ModelMessage[], overhead: () => string): number {
    if (this.#counted !== undefined) return Math.round(this.#counted + (this.#read + this.#said) * this.#ratio);
    if (this.#estimated === undefined) {
      this.#estimated = messages().reduce((sum, message) => sum + estimateTokens(textOf(message)), 0);
      this.#read = 0;
      this.#said = 0;
    }
    return Math.round((estimateTokens(overhead()) + this.#estimated + this.#read + this.#said) * this.#ratio);
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.#systemTurn = event.source === 'system';
        return;
      case 'chat_request':
      case 'tool_call_response':
        this.#read += estimateTokens(event.content);
        this.#carried(event.notifications);
        return;
      case 'chat_response':
        this.#said += estimateTokens(event.message ?? '');
        return;
      case 'tool_call_request':
        this.#said += estimateTokens(event.arguments_text ?? JSON.stringify(event.arguments));
        return;
      case 'compaction':
        this.#counted = undefined;
        this.#estimated = undefined;
        return;
      case 'model_call':
        return this.#call(event);
      default:
        return;
    }
  }

  #carried(carried: Carried | undefined): void {
    if (carried === undefined) return;
    const tokens = estimateTokens(carried.text);
    this.#read += tokens;
    this.#notifications += tokens;
  }

  #call({ model, usage, purpose }: EventOf<'model_call'>): void {
    if (usage === undefined) return;
    const used = { input: usage.input_tokens, output: usage.output_tokens, cached: usage.cached_tokens ?? 0 };
    this.#byModel.set(model, add(this.#byModel.get(model) ?? none, used));
    if (this.#systemTurn) this.#woken = add(this.#woken, used);
    if (purpose === undefined) this.#count(usage);
  }

  /** What was read now beyond the last count is what was estimated meanwhile: their ratio is how far we were off. */
  #count(usage: Usage): void {
    const grown = this.#counted === undefined ? 0 : usage.input_tokens - this.#counted;
    if (grown > 0 && this.#read > 100) {
      const seen = Math.min(MOST_RATIO, Math.max(LEAST_RATIO, grown / this.#read));
      this.#ratio = (this.#ratio + seen) / 2;
    }
    this.#counted = usage.input_tokens + usage.output_tokens;
    this.#read = 0;
    this.#said = 0;
  }
}

function add(a: Tokens, b: Tokens): Tokens {
  return { input: a.input + b.input, output: a.output + b.output, cached: a.cached + b.cached };
}

function textOf(message: ModelMessage): string {
  if (message.role !== 'assistant') return `${message.content}\n${message.block?.text ?? ''}`;
  return [message.content, ...message.calls.map((call) => `${call.name} ${call.arguments}`)].join('\n');
}

/** Cached tokens are part of the input and cost what a cached one does, if that is known. */
export function costOf({ input, output, cached }: Tokens, prices: Prices): number {
  const fresh = (input - cached) * prices.input + cached * (prices.cached ?? prices.input);
  return (fresh + output * prices.output) / 1_000_000;
}
