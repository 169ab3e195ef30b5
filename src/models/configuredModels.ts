// Creates the models of the configured providers by their references, and keeps each until its settings change. Adds what
// is known about a model: its window, its levels of reasoning, and the cost of each call.
import { defined } from '../base/json/defined.ts';
import { type Logger, type Model, type ModelPart, type ModelRequest } from '../core/ports/ports.ts';
import { modelOptions, type Settings } from '../protocol/settings.ts';
import { listModels } from './endpoints.ts';
import { type EndpointMemory } from './endpointMemory.ts';
import { type ModelFacts } from './facts/factsFile.ts';
import { costOfCall, type KnownModels, pricesOf } from './facts/modelFacts.ts';
import { createModel, levelsFor } from './model.ts';
import { findModel, type Provider, providersIn, referenceTo } from './providers.ts';
import { isNear, readServed } from './servedWindow.ts';

export interface ConfiguredModelsDeps {
  settings(): Settings;
  readonly known: KnownModels;
  readonly memory?: EndpointMemory | Promise<EndpointMemory>;
  /** Gets what endpoints refused and was repeated, and what they changed in a request. */
  readonly logger?: Pick<Logger, 'info'>;
  /** The provider's key; undefined: none is set. */
  key(provider: Provider): Promise<string | undefined>;
}

/** Returns undefined for a reference whose provider is not configured. */
export function createConfiguredModels(deps: ConfiguredModelsDeps): (reference: string) => Model | undefined {
  /** The created models, each with the settings that it was created from. */
  const created = new Map<string, { readonly settings: string; readonly model: Model }>();
  const get = (reference: string): Model | undefined => {
    const found = findModel(deps.settings(), reference);
    if (found === undefined) return undefined;
    const { provider, model } = found;
    const { baseUrl, api, headers } = provider;
    const options = modelOptions(deps.settings(), reference);
    const settings = JSON.stringify([provider, model, options]);
    const before = created.get(reference);
    if (before?.settings === settings) return before.model;
    const endpoint = {
      baseUrl,
      api,
      model,
      options,
      ...defined({ headers, memory: deps.memory }),
    };
    const log = (message: string) => deps.logger?.info(message);
    const contextWindow = () => deps.known.get(baseUrl, model).window;
    const made = createModel({ ...endpoint, log, contextWindow, apiKey: () => deps.key(provider) });
    const small = () => {
      const name = deps.known.small(baseUrl, model);
      return name === undefined ? undefined : get(referenceTo(provider, name));
    };
    const whole = withFacts(
      made,
      {
        ...{ reference, provider, model, small },
        facts: () => deps.known.get(baseUrl, model),
        ask: async () => {
          if (options.contextWindow !== undefined || !isNear(baseUrl)) return;
          const served = await readServed(provider, model, await deps.key(provider));
          deps.known.noteServed(baseUrl, model, served);
        },
      },
      options,
    );
    created.set(reference, { settings, model: whole });
    return whole;
  };
  return get;
}

/** Asks every configured provider for its models and keeps what it says, where nobody chooses from a list. */
export async function noteLists({
  settings,
  known,
  key,
}: Pick<ConfiguredModelsDeps, 'settings' | 'known' | 'key'>): Promise<void> {
  await Promise.all(
    providersIn(settings()).map(async (provider) => {
      const listed = await listModels(provider, await key(provider));
      if (listed.ok) known.note(provider.baseUrl, listed.value);
    }),
  );
}

interface Knowledge {
  readonly reference: string;
  readonly provider: Provider;
  /** Its name there. */
  readonly model: string;
  facts(): ModelFacts;
  /** Asks a server near by what it serves. */
  ask(): Promise<void>;
  small(): Model | undefined;
}

/** The user's options win, then what is known. Facts may come later, when the endpoint lists its models. */
function withFacts(
  made: Model,
  { reference, provider, model, facts, small, ask }: Knowledge,
  options: Settings['models'][string],
): Model {
  let asked = 0;
  const known = {
    id: reference,
    get label() {
      return provider.id === '' ? made.label : (facts().name ?? made.label);
    },
    detail: provider.id === '' ? made.detail : provider.label,
    get contextWindow() {
      return options.contextWindow ?? facts().window ?? made.contextWindow;
    },
    get prices() {
      const { price } = facts();
      return options.prices ?? (price && pricesOf(price));
    },
    get efforts() {
      const { efforts } = facts();
      return efforts === undefined ? made.efforts : levelsFor(provider, model, efforts);
    },
    get takesImages() {
      return facts().images ?? made.takesImages;
    },
    small,
    async *stream({ image, ...request }: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
      // Again before the second request: with the first, the server has loaded the model, and knows how.
      if (asked < 2) {
        asked += 1;
        await ask();
      }
      // Without their bytes, the images of an earlier model are left out; the texts describe them.
      const images = facts().images === false || image === undefined ? {} : { image };
      const parts = made.stream({ ...request, ...images }, signal);
      for await (const part of parts) yield withCost(part, options, facts());
    },
  };
  // The made model stays behind it, so that what it learns later is seen.
  return Object.setPrototypeOf(known, made) as Model;
}

/** The endpoint's own price wins; prices of the settings are applied where costs are shown. */
function withCost(part: ModelPart, { prices }: Settings['models'][string], facts: ModelFacts): ModelPart {
  if (part.type !== 'finished' || part.usage === undefined || part.usage.cost !== undefined) return part;
  const cost = prices === undefined ? costOfCall(part.usage, facts) : undefined;
  return cost === undefined ? part : { ...part, usage: { ...part.usage, cost } };
}
