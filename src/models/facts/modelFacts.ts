// What is known about models: the shipped file, which is read with the first model, and what endpoints say themselves.
import { readFileSync } from 'node:fs';
import { describeError } from '../../base/errors.ts';
import { type Prices } from '../../core/ports/modelMessages.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type Usage } from '../../protocol/event.ts';
import { type ListedModel } from '../endpoints.ts';
import { type ModelFacts, parseFacts, type Price, type ProviderFacts } from './factsFile.ts';

/** Makers of models, whose cheapest model is known to write a title. */
const MAKERS = ['anthropic', 'openai', 'google', 'xai', 'deepseek', 'mistral', 'moonshotai', 'zai', 'minimax'];
/** In tokens: a title needs the beginning of a conversation. */
const SMALLEST_WINDOW = 16_000;
const NOT_FOR_TEXT = /embed|image|audio|live|tts|moderation|research|robotics|computer|realtime|ocr|guard/i;

export class KnownModels {
  readonly #path: string;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #listed = new Map<string, ModelFacts>();
  #providers: ReadonlyMap<string, ProviderFacts> | undefined;

  /** `path`: the file that `npm run models` writes. */
  constructor(deps: { readonly path: string; readonly logger: Pick<Logger, 'warn'> }) {
    this.#path = deps.path;
    this.#logger = deps.logger;
  }

  /** What the endpoint says wins. Empty: nothing is known. */
  get(baseUrl: string, model: string): ModelFacts {
    return { ...this.#shipped(baseUrl, model), ...this.#listed.get(`${baseUrl} ${model}`) };
  }

  /** Keeps what an endpoint said about its models. */
  note(baseUrl: string, models: readonly ListedModel[]): void {
    for (const { id, ...facts } of models) {
      if (Object.keys(facts).length > 0) this.#listed.set(`${baseUrl} ${id}`, facts);
    }
  }

  /** The cheapest model of the same maker that can write a short text; undefined: there is none that costs less. */
  small(baseUrl: string, model: string): string | undefined {
    const provider = this.#providerAt(baseUrl);
    if (provider === undefined || !MAKERS.includes(provider.id)) return undefined;
    const cost = ({ price }: ModelFacts) => (price === undefined ? Infinity : price[0] + price[1]);
    const own = this.get(baseUrl, model);
    const [cheapest] = Object.entries(provider.facts.models)
      .filter(
        ([id, facts]) => (facts.window ?? 0) >= SMALLEST_WINDOW && !NOT_FOR_TEXT.test(id) && cost(facts) < cost(own),
      )
      .sort(([, a], [, b]) => cost(a) - cost(b));
    return own.price === undefined ? undefined : cheapest?.[0];
  }

  #shipped(baseUrl: string, model: string): ModelFacts {
    const models = this.#providerAt(baseUrl)?.facts.models ?? {};
    const names = [model, model.replace(/^models\//, ''), model.replace(/-\d{8}$/, '')];
    const name = names.find((one) => Object.hasOwn(models, one));
    return name === undefined ? {} : { images: false, ...models[name] };
  }

  #providerAt(baseUrl: string): { readonly id: string; readonly facts: ProviderFacts } | undefined {
    const { host } = new URL(baseUrl);
    this.#providers ??= this.#read();
    const found = [...this.#providers].find(([, facts]) => facts.host === host);
    return found && { id: found[0], facts: found[1] };
  }

  /** Without the file, prices and windows are unknown, and everything else works. */
  #read(): ReadonlyMap<string, ProviderFacts> {
    try {
      return parseFacts(readFileSync(this.#path, 'utf8'));
    } catch (error) {
      this.#logger.warn(`the facts about models cannot be read: ${describeError(error)}`);
      return new Map();
    }
  }
}

export function pricesOf([input, output, cached, written]: Price): Prices {
  return { input, output, cached, written };
}

/** The price of one call in US dollars; undefined if it is not known. */
export function costOfCall(usage: Usage, { price, tiers = [] }: ModelFacts): number | undefined {
  if (price === undefined) return undefined;
  const { input_tokens: input, cached_tokens: cached = 0, written_tokens: written = 0, output_tokens: output } = usage;
  const tier = tiers.filter(({ above }) => input > above).sort((a, b) => b.above - a.above)[0];
  const [perInput, perOutput, perCached, perWritten] = tier?.price ?? price;
  const fresh = Math.max(0, input - cached - written);
  return (fresh * perInput + cached * perCached + written * perWritten + output * perOutput) / 1_000_000;
}
