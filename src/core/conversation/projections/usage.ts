// Decides what a conversation has used: tokens as the endpoint counted them, and between its counts our estimate, scaled by it.
import { type Carried, type EventOf, type LogEvent, type Usage } from '../../../protocol/event.ts';
import { type ModelMessage } from '../../ports/modelMessages.ts';
import { type Prices } from '../../ports/ports.ts';
import { withAttachments } from '../attachments.ts';
import { estimateTokens } from '../tokens.ts';

/** A wild first count must not spoil the estimate. */
const LEAST_RATIO = 0.5;
const MOST_RATIO = 3;

export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

const none: Tokens = { input: 0, output: 0, cached: 0 };

/** How many of the endpoint's last counts the ratio is made of. */
const COUNTS = 8;

/** Texts whose tokens are estimated when somebody asks: most of a long log is never asked for. */
class Estimate {
  #texts: string[] = [];
  #tokens = 0;

  add(text: string): void {
    this.#texts.push(text);
  }

  get tokens(): number {
    for (const text of this.#texts) this.#tokens += estimateTokens(text);
    this.#texts = [];
    return this.#tokens;
  }
}

export class UsageTotal {
  readonly #byModel = new Map<string, Tokens>();
  /** What the model had read and said at the endpoint's last count. */
  #counted: number | undefined;
  /** Estimated, where nothing is counted: what stood there before `read` and `said`; undefined after a compaction. */
  #estimated: number | undefined = 0;
  /** What came since: for the model to read, and from it. */
  #read = new Estimate();
  #said = new Estimate();
  /** The last counts: by how much the input grew, and what we had estimated for it. */
  readonly #counts: { readonly grown: number; readonly read: Estimate }[] = [];
  readonly #notifications = new Estimate();
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
    return Math.round(this.#notifications.tokens * this.ratio);
  }

  /** What turns cost that no person began. */
  get woken(): Tokens {
    return this.#woken;
  }

  /** Real tokens for one estimated, the newest count weighing most. */
  get ratio(): number {
    return this.#counts.reduce((ratio, { grown, read }) => {
      if (read.tokens <= 100) return ratio;
      return (ratio + Math.min(MOST_RATIO, Math.max(LEAST_RATIO, grown / read.tokens))) / 2;
    }, 1);
  }

  /** How many tokens the next request will be. `overhead`: the system prompt and the tools, where nothing was counted yet. */
  contextTokens(messages: () => readonly ModelMessage[], overhead: () => string): number {
    if (this.#estimated === undefined && this.#counted === undefined) {
      this.#estimated = messages().reduce((sum, message) => sum + estimateTokens(textOf(message)), 0);
      this.#read = new Estimate();
      this.#said = new Estimate();
    }
    const since = this.#read.tokens + this.#said.tokens;
    if (this.#counted !== undefined) return Math.round(this.#counted + since * this.ratio);
    return Math.round((estimateTokens(overhead()) + (this.#estimated ?? 0) + since) * this.ratio);
  }

  fold(event: LogEvent): void {
    switch (event.type) {
      case 'turn_started':
        this.#systemTurn = event.source === 'system';
        return;
      case 'chat_request':
        this.#read.add(withAttachments(event.content, event.attachments));
        this.#carried(event.notifications);
        return;
      case 'tool_call_response':
        this.#read.add(event.content);
        this.#carried(event.notifications);
        return;
      case 'chat_response':
        this.#said.add(event.message ?? '');
        return;
      case 'tool_call_request':
        this.#said.add(event.arguments_text ?? JSON.stringify(event.arguments));
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
    this.#read.add(carried.text);
    this.#notifications.add(carried.text);
  }

  #call({ model, usage, purpose }: EventOf<'model_call'>): void {
    if (usage === undefined) return;
    const used = { input: usage.input_tokens, output: usage.output_tokens, cached: usage.cached_tokens ?? 0 };
    this.#byModel.set(model, add(this.#byModel.get(model) ?? none, used));
    // A title is asked for beside whatever runs.
    if (this.#systemTurn && purpose !== 'title') this.#woken = add(this.#woken, used);
    if (purpose === undefined) this.#count(usage);
  }

  /** What was read now beyond the last count is what was estimated meanwhile: their ratio is how far we were off. */
  #count(usage: Usage): void {
    const grown = this.#counted === undefined ? 0 : usage.input_tokens - this.#counted;
    if (grown > 0) this.#counts.push({ grown, read: this.#read });
    if (this.#counts.length > COUNTS) this.#counts.shift();
    this.#counted = usage.input_tokens + usage.output_tokens;
    this.#read = new Estimate();
    this.#said = new Estimate();
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
