// The shape of media/models.json, which `npm run models` writes, and its check when it is read.
import { isObject } from '../../base/json/outsideJson.ts';
import { defined } from '../../base/json/defined.ts';
import { EFFORTS, type Effort } from '../../protocol/settings.ts';

/** US dollars for a million tokens: input, output, read from the cache, written to the cache. */
export type Price = readonly [number, number, number, number];

export interface ModelFacts {
  readonly name?: string;
  /** Tokens that a request may have, and an answer. */
  readonly window?: number;
  readonly output?: number;
  readonly price?: Price;
  /** Prices of requests with more input tokens than `above`. */
  readonly tiers?: readonly { readonly above: number; readonly price: Price }[];
  readonly images?: boolean;
  /** The levels of reasoning that it has; absent: none, or not known. */
  readonly efforts?: readonly Effort[];
}

export interface ProviderFacts {
  readonly host: string;
  readonly models: Readonly<Record<string, ModelFacts>>;
}

/** The file as `npm run models` writes it. */
export interface FactsFile {
  readonly source: string;
  readonly license: string;
  readonly providers: Readonly<Record<string, ProviderFacts>>;
}

/** Throws if the text is not JSON of this shape. A value of a wrong type counts as not known. */
export function parseFacts(text: string): ReadonlyMap<string, ProviderFacts> {
  const { providers } = JSON.parse(text) as { readonly providers?: unknown };
  if (!isObject(providers)) throw new Error('it has no providers');
  return new Map(
    Object.entries(providers).flatMap(([id, provider]) =>
      isObject(provider) && typeof provider['host'] === 'string' && isObject(provider['models'])
        ? [[id, { host: provider['host'], models: readModels(provider['models']) }] as const]
        : [],
    ),
  );
}

function readModels(models: Readonly<Record<string, unknown>>): Readonly<Record<string, ModelFacts>> {
  return Object.fromEntries(
    Object.entries(models).flatMap(([id, facts]) => (isObject(facts) ? [[id, readModel(facts)] as const] : [])),
  );
}

/** A value of a wrong type counts as not known. */
export function readModel({
  name,
  window,
  output,
  price,
  tiers,
  images,
  efforts,
}: Readonly<Record<string, unknown>>): ModelFacts {
  const own = readPrice(price);
  const levels = Array.isArray(efforts) ? EFFORTS.filter((effort) => efforts.includes(effort)) : [];
  const above = Array.isArray(tiers) ? tiers.flatMap(readTier) : [];
  return {
    ...(typeof name === 'string' && { name }),
    ...(isCount(window) && { window }),
    ...(isCount(output) && { output }),
    ...defined({ price: own }),
    ...(own !== undefined && above.length > 0 && { tiers: above }),
    ...(typeof images === 'boolean' && { images }),
    ...(levels.length > 0 && { efforts: levels }),
  };
}

function readTier(tier: unknown): { readonly above: number; readonly price: Price }[] {
  if (!isObject(tier)) return [];
  const { above, price } = tier;
  const read = readPrice(price);
  return isCount(above) && read !== undefined ? [{ above, price: read }] : [];
}

function readPrice(price: unknown): Price | undefined {
  if (!Array.isArray(price) || price.length !== 4) return undefined;
  return price.every((one) => typeof one === 'number' && Number.isFinite(one) && one >= 0)
    ? (price as unknown as Price)
    : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
