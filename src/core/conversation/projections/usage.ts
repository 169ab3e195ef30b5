// Projects token usage: the endpoint's counts, plus an estimate since the last one, scaled by the error of earlier
// estimates.
import { type EventOf, type LogEvent, type Usage } from '../../../protocol/event.ts';
import { type ModelMessage, type Prices } from '../../ports/modelMessages.ts';
import { imagesIn, withAttachments } from '../attachments.ts';
import { estimateImages, estimateTokens } from '../tokens.ts';
import { schemaInstruction } from './messages.ts';

/** Bounds of the ratio, so that one unusual count does not distort the estimate. */
const LEAST_RATIO = 0.5;
const MOST_RATIO = 3;

/** Cached and written tokens are part of the input. */
interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly written: number;
}

export interface Tokens extends Counts {
  /** The price in US dollars of the calls whose price is known, and the tokens of the others. */
  readonly cost: number;
  readonly unpriced: Counts;
}

const noCounts: Counts = { input: 0, output: 0, cached: 0, written: 0 };
const none: Tokens = { ...noCounts, cost: 0, unpriced: noCounts };

/** The ratio is computed from this many of the endpoint's last counts. */
const COUNTS = 8;

/** Estimates tokens lazily: those of most texts of a long log are never needed. */
class Estimate {
  #texts: string[] = [];
  #tokens = 0;

  add(text: string): void {
    this.#texts.push(text);
  }

  /** An image's. */
  addTokens(tokens: number): void {
    this.#tokens += tokens;
  }

  get tokens(): number {
    for (const text of this.#texts) this.#tokens += estimateTokens(text);
    this.#texts = [];
    return this.#tokens;
  }
}

/** The usage that counts against the limits of a conversation. */
export type CountedUsage = Pick<UsageTotal, 'byModel' | 'total'>;

export class UsageTotal {
  readonly #byModel = new Map<string, Tokens>();
  /** The part of `byModel` that subagents used: by conversation, then by model. */
  readonly #bySubagent = new Map<string, Map<string, Tokens>>();
  /** Input and output of the request that the endpoint counted last. */
  #counted: number | undefined;
  /**
   * While there is no count: the estimate of everything before `#input` and `#output`; undefined after a compaction.
   */
  #estimated: number | undefined = 0;
  /** Since then: the texts that the model reads, and those it wrote. */
  #input = new Estimate();
  #output = new Estimate();
  /** The last counts: the growth of the input, and the estimate for the same texts. */
  readonly #counts: { readonly grown: number; readonly read: Estimate }[] = [];
  readonly #notifications = new Estimate();
  #woken: Tokens = none;
  #systemTurn = false;

  get byModel(): ReadonlyMap<string, Tokens> {
    return this.#byModel;
  }

  /** The part of a subagent's usage that is counted here. */
  usedBySubagent(conversation: string): ReadonlyMap<string, Tokens> {
    return this.#bySubagent.get(conversation) ?? new Map();
  }

  get total(): Tokens {
    return [...this.#byModel.values()].reduce(add, none);
  }

  /** Tokens of all carried notification blocks, each counted once. */
  get notifications(): number {
    return Math.round(this.#notifications.tokens * this.ratio);
  }

  /** Input tokens that were written to the endpoint's cache. */
  get written(): number {
    return this.total.written;
  }

  /** Usage of system turns. */
  get woken(): Tokens {
    return this.#woken;
  }

  /** Counted tokens per estimated token; the newest count weighs most. */
  get ratio(): number {
    return this.#counts.reduce((ratio, { grown, read }) => {
      if (read.tokens <= 100) return ratio;
      return (ratio + Math.min(MOST_RATIO, Math.max(LEAST_RATIO, grown / read.tokens))) / 2;
    }, 1);
  }

  /**
   * The expected tokens of the next request. `overhead`: the system prompt and the tools, needed before the first
   * count.
   */
  contextTokens(messages: () => readonly ModelMessage[], overhead: () => string): number {
    if (this.#estimated === undefined && this.#counted === undefined) {
      this.#estimated = messages().reduce((sum, message) => sum + estimateMessage(message), 0);
      this.#input = new Estimate();
      this.#output = new Estimate();
    }
    const since = this.#input.tokens + this.#output.tokens;
    if (this.#counted !== undefined) return Math.round(this.#counted + since * this.ratio);
    return Math.round((estimateTokens(overhead()) + (this.#estimated ?? 0) + since) * this.ratio);
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.#systemTurn = event.source === 'system';
        return;
      case 'chat_request':
        this.#input.add(withAttachments(event.content, event.attachments));
        this.#input.addTokens(estimateImages(imagesIn(event.attachments ?? [])));
        if (event.schema !== undefined) this.#input.add(schemaInstruction(event.schema));
        this.#carried(event);
        return;
      case 'tool_call_response':
        this.#input.add(event.content);
        this.#input.addTokens(estimateImages(event.images));
        this.#carried(event);
        return;
      case 'chat_response':
        this.#output.add(event.message ?? '');
        return;
      case 'tool_call_request':
        this.#output.add(event.arguments_text ?? JSON.stringify(event.arguments));
        return;
      case 'compaction':
      case 'results_dropped':
        this.#counted = undefined;
        this.#estimated = undefined;
        return;
      case 'model_call':
        return this.#call(event);
      default:
        return;
    }
  }

  #carried({ notifications: carried, instructions }: EventOf<'chat_request' | 'tool_call_response'>): void {
    for (const { text } of instructions ?? []) this.#input.add(text);
    if (carried === undefined) return;
    for (const text of [carried.text, ...(carried.user ?? [])]) this.#input.add(text);
    this.#notifications.add(carried.text);
  }

  #call({ model, usage, purpose, subagent }: EventOf<'model_call'>): void {
    if (usage === undefined) return;
    const used = tokensOf(usage);
    this.#byModel.set(model, add(this.#byModel.get(model) ?? none, used));
    if (subagent !== undefined) {
      const known = this.#bySubagent.get(subagent) ?? new Map<string, Tokens>();
      this.#bySubagent.set(subagent, known.set(model, add(known.get(model) ?? none, used)));
      return;
    }
    // A title may be requested while any turn runs.
    if (this.#systemTurn && purpose !== 'title') this.#woken = add(this.#woken, used);
    if (purpose === undefined) this.#count(usage);
  }

  /** The growth of the input since the last count is compared with the estimate for the same texts. */
  #count(usage: Usage): void {
    const grown = this.#counted === undefined ? 0 : usage.input_tokens - this.#counted;
    if (grown > 0) this.#counts.push({ grown, read: this.#input });
    if (this.#counts.length > COUNTS) this.#counts.shift();
    this.#counted = usage.input_tokens + usage.output_tokens;
    this.#input = new Estimate();
    this.#output = new Estimate();
  }
}

function tokensOf({ input_tokens: input, output_tokens: output, cached_tokens, written_tokens, cost }: Usage): Tokens {
  const counts = { input, output, cached: cached_tokens ?? 0, written: written_tokens ?? 0 };
  return { ...counts, cost: cost ?? 0, unpriced: cost === undefined ? counts : noCounts };
}

/** The part of `used` that is not counted yet. */
export function missingUsage(used: Tokens, counted: Tokens = none): Usage {
  const missing = (name: keyof Counts) => used[name] - counted[name];
  const cost = used.cost - counted.cost;
  return {
    input_tokens: missing('input'),
    output_tokens: missing('output'),
    cached_tokens: missing('cached'),
    ...(missing('written') > 0 && { written_tokens: missing('written') }),
    // One event has one price: it is known only if it is known for all of its calls.
    ...(cost > 0 && used.unpriced.input === counted.unpriced.input && { cost }),
  };
}

function add(a: Tokens, b: Tokens): Tokens {
  return { ...addCounts(a, b), cost: a.cost + b.cost, unpriced: addCounts(a.unpriced, b.unpriced) };
}

function addCounts(a: Counts, b: Counts): Counts {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cached: a.cached + b.cached,
    written: a.written + b.written,
  };
}

function estimateMessage(message: ModelMessage): number {
  const images = message.role === 'assistant' ? [] : message.images;
  const shown = message.role === 'tool' ? message.resultImages : [];
  return estimateTokens(messageText(message)) + estimateImages(images) + estimateImages(shown);
}

function messageText(message: ModelMessage): string {
  if (message.role !== 'assistant') {
    return [message.content, message.block?.text ?? '', ...(message.queued ?? [])].join('\n');
  }
  return [message.content, ...message.calls.map((call) => `${call.name} ${call.arguments}`)].join('\n');
}

/** Cached and written tokens are part of the input, and have their own price if that is known. */
export function costOf({ input, output, cached, written }: Counts, prices: Prices): number {
  const cache = cached * (prices.cached ?? prices.input) + written * (prices.written ?? prices.input);
  return ((input - cached - written) * prices.input + cache + output * prices.output) / 1_000_000;
}
