// What is known about models: the shipped file, which is read with the first model, and what endpoints have said
// themselves, also in earlier windows.
import { readFileSync } from 'node:fs';
import { describeError } from '../../base/errors.ts';
import { type Prices } from '../../core/ports/modelMessages.ts';
import { type Logger } from '../../core/ports/ports.ts';
import { type Usage } from '../../protocol/event.ts';
import { type ListedModel } from '../endpoints.ts';
import { type ModelFacts, parseFacts, type Price, type ProviderFacts, readModel } from './factsFile.ts';
import { isObject } from '../../base/json/outsideJson.ts';

/** Makers of models, whose cheapest model is known to write a title. */
const MAKERS = ['anthropic', 'openai', 'google', 'xai', 'deepseek', 'mistral', 'moonshotai', 'zai', 'minimax'];
/** In tokens: a title needs the beginning of a conversation. */
const SMALLEST_WINDOW = 16_000;
export const NOT_FOR_TEXT = /embed|image|audio|live|tts|moderation|research|robotics|computer|realtime|ocr|guard/i;

export class KnownModels {
  readonly #path: string;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #listed: ListedFacts;
  readonly #served = new Map<string, ModelFacts>();
  #providers: ReadonlyMap<string, ProviderFacts> | undefined;

  /** `path`: the file that `npm run models` writes. `store`: keeps what endpoints say; absent: until the end. */
  constructor(deps: { readonly path: string; readonly logger: Pick<Logger, 'warn'>; readonly store?: FactsStore }) {
    this.#path = deps.path;
    this.#logger = deps.logger;
    this.#listed = new ListedFacts(deps);
  }

  /** What the endpoint says wins. Empty: nothing is known. */
  get(baseUrl: string, model: string): ModelFacts {
    return {
      ...this.#shipped(baseUrl, model),
      ...this.#listed.get(baseUrl, model),
      ...this.#served.get(`${baseUrl} ${model}`),
    };
  }

  /** Keeps until the end what a server near by said about a model as it runs there. Its list says only what it could be. */
  noteServed(baseUrl: string, model: string, facts: ModelFacts): void {
    this.#served.set(`${baseUrl} ${model}`, facts);
  }

  /** The models of an endpoint about which anything is known. */
  names(baseUrl: string): readonly string[] {
    const shipped = Object.keys(this.#providerAt(baseUrl)?.facts.models ?? {});
    return [...new Set([...shipped, ...this.#listed.names(baseUrl)])];
  }

  /** Keeps what an endpoint said about its models. */
  note(baseUrl: string, models: readonly ListedModel[]): void {
    this.#listed.note(baseUrl, models);
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

/** Stores values as JSON, as VS Code's state of an extension does. */
interface FactsStore {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

const KEY = 'models.listed';
/** Prices and windows change; the shipped file is newer then. */
const LONGEST_MILLISECONDS = 30 * 24 * 60 * 60 * 1000;
/** VS Code reads its state at each start. */
const MOST_CHARACTERS = 200_000;

interface Listed {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly models: Readonly<Record<string, ModelFacts>>;
}

interface ListedDeps {
  readonly store?: FactsStore;
  readonly logger: Pick<Logger, 'warn'>;
  /** Milliseconds since 1970. */
  now?(): number;
}

/** What endpoints have said about their models, kept across windows. Bounded, and forgotten when it is old. */
export class ListedFacts {
  readonly #deps: ListedDeps;
  /** By the address of the endpoint. Undefined until they are needed. */
  #endpoints: Map<string, Listed> | undefined;

  constructor(deps: ListedDeps) {
    this.#deps = deps;
  }

  get(baseUrl: string, model: string): ModelFacts | undefined {
    const models = this.#all().get(baseUrl)?.models ?? {};
    return Object.hasOwn(models, model) ? models[model] : undefined;
  }

  names(baseUrl: string): readonly string[] {
    return Object.keys(this.#all().get(baseUrl)?.models ?? {});
  }

  /** Replaces what the endpoint said before. */
  note(baseUrl: string, models: readonly ListedModel[]): void {
    const known = models.flatMap(({ id, ...facts }) => (Object.keys(facts).length > 0 ? [[id, facts] as const] : []));
    const all = this.#all();
    const before = all.get(baseUrl);
    if (known.length === 0 && before === undefined) return;
    all.set(baseUrl, { at: this.#now(), models: Object.fromEntries(known) });
    this.#keep(all);
  }

  #all(): Map<string, Listed> {
    this.#endpoints ??= readListed(this.#deps.store?.get(KEY), this.#now());
    return this.#endpoints;
  }

  /** The newest, as many as fit. */
  #keep(all: ReadonlyMap<string, Listed>): void {
    const { store, logger } = this.#deps;
    if (store === undefined) return;
    let left = MOST_CHARACTERS;
    const newest = [...all].sort(([, a], [, b]) => b.at - a.at);
    const kept = newest.filter((entry) => {
      left -= JSON.stringify(entry).length;
      return left >= 0;
    });
    const report = (error: unknown) => logger.warn(`the facts about models cannot be stored: ${describeError(error)}`);
    void Promise.resolve(store.update(KEY, Object.fromEntries(kept))).catch(report);
  }

  #now(): number {
    return this.#deps.now?.() ?? Date.now();
  }
}

/** Values of another shape are left out: another version may have stored them. */
function readListed(stored: unknown, now: number): Map<string, Listed> {
  const endpoints = Object.entries(isObject(stored) ? stored : {}).flatMap(([baseUrl, value]) => {
    if (!isObject(value) || typeof value['at'] !== 'number' || !isObject(value['models'])) return [];
    const { at, models } = value as { at: number; models: Readonly<Record<string, unknown>> };
    if (now - at > LONGEST_MILLISECONDS) return [];
    const read = Object.entries(models).flatMap(([id, facts]) => (isObject(facts) ? [[id, readModel(facts)]] : []));
    return [[baseUrl, { at, models: Object.fromEntries(read) as Listed['models'] }] as const];
  });
  return new Map(endpoints);
}
