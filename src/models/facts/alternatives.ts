// Finds the models that a conversation could continue with, and what they ask for reading a context. Pure.
import { defined } from '../../base/json/defined.ts';
import { type AlternativeModel } from '../../protocol/page/windowView.ts';
import { modelOptions, type Settings } from '../../protocol/settings.ts';
import { findModel, providersIn, referenceTo } from '../providers.ts';
import { type ModelFacts } from './factsFile.ts';
import { type KnownModels, NOT_FOR_TEXT } from './modelFacts.ts';

const MOST = 40;

/**
 * Favourites first, then models that the settings name, then those of the configured providers, the nearest in price to
 * the current one first. Only models whose price is known; without those whose context would not be text.
 */
export function alternativesTo(
  current: string,
  { settings, favourites, known }: AlternativesDeps,
): readonly AlternativeModel[] {
  const providers = providersIn(settings);
  const named = providers.flatMap((one) => (one.models ?? []).map((name) => referenceTo(one, name)));
  const priceOf = (reference: string) => describe(reference, settings, known)?.price ?? 0;
  const distance = (reference: string) => Math.abs(Math.log((priceOf(reference) + 0.01) / (priceOf(current) + 0.01)));
  const others = providers
    .flatMap((one) => undated(known.names(one.baseUrl)).map((name) => referenceTo(one, name)))
    .filter((reference) => !NOT_FOR_TEXT.test(reference))
    .map((reference) => [distance(reference), reference] as const)
    .sort(([a], [b]) => a - b)
    .map(([, reference]) => reference);
  const references = new Set([...favourites, ...Object.keys(settings.models), ...named, ...others]);
  references.delete(current);
  const priced: AlternativeModel[] = [];
  for (const reference of references) {
    const alternative = describe(reference, settings, known);
    if (alternative !== undefined) priced.push(alternative);
    if (priced.length === MOST) break;
  }
  return priced;
}

export interface AlternativesDeps {
  readonly settings: Settings;
  /** References of the user's favourites. */
  readonly favourites: readonly string[];
  readonly known: Pick<KnownModels, 'get' | 'names'>;
}

/** The user's prices win; known ones are in US dollars. Undefined: its price is not known. */
function describe(
  reference: string,
  settings: Settings,
  known: Pick<KnownModels, 'get'>,
): AlternativeModel | undefined {
  const { prices, contextWindow } = modelOptions(settings, reference);
  const found = findModel(settings, reference);
  const facts: ModelFacts = found === undefined ? {} : known.get(found.provider.baseUrl, found.model);
  const window = contextWindow ?? facts.window;
  if (prices !== undefined) return { model: reference, price: prices.written ?? prices.input, ...defined({ window }) };
  if (facts.price === undefined || settings.currency !== 'USD') return undefined;
  const tiers = facts.tiers?.map(({ above, price: [, , , written] }) => ({ above, price: written }));
  return { model: reference, price: facts.price[3], ...defined({ window, tiers }) };
}

/** Without the dated names of models that are also listed without a date. */
function undated(names: readonly string[]): readonly string[] {
  const all = new Set(names);
  return names.filter((name) => {
    const short = name.replace(/-(?:\d{8}|\d{4}-\d\d-\d\d)$/, '');
    return short === name || !all.has(short);
  });
}
