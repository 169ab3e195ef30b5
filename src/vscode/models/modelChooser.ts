// Creates the current model from the settings, or the Guide without one, and other models by name. Keeps each until its
// settings change.
import { type Model, type Ports } from '../../core/ports/ports.ts';
import { type EndpointMemory } from '../../models/endpointMemory.ts';
import { createGuideModel } from '../../models/guide/guide.ts';
import { createModel } from '../../models/model.ts';
import { type Settings } from '../../protocol/settings.ts';
import { LANGUAGE_MODEL_PREFIX, type LanguageModels } from './languageModels.ts';
import { type ApiKeys } from './secrets.ts';

export function createModelChooser(deps: {
  settings(): Settings;
  readonly keys: ApiKeys;
  readonly memory: Promise<EndpointMemory>;
  readonly languageModels: LanguageModels;
}): { model(): Model; readonly models: NonNullable<Ports['models']> } {
  const { keys, memory } = deps;
  const guide = createGuideModel();
  /** The created models, each with the settings that it was created from. */
  const created = new Map<string, { readonly settings: string; readonly model: Model }>();
  const get = (model: string): Model | undefined => {
    const { baseUrl, models } = deps.settings();
    const ofVscode = model.startsWith(LANGUAGE_MODEL_PREFIX);
    if (model === '' || (baseUrl === '' && !ofVscode)) return undefined;
    const options = models[model] ?? {};
    const settings = JSON.stringify([baseUrl, model, options]);
    const known = created.get(model);
    if (known?.settings === settings) return known.model;
    const made = ofVscode
      ? deps.languageModels.model(model, options)
      : createModel({ baseUrl, model, options, memory, apiKey: () => keys.get(baseUrl) });
    created.set(model, { settings, model: made });
    return made;
  };
  return {
    model: () => get(deps.settings().model) ?? guide,
    models: {
      get names() {
        return Object.keys(deps.settings().models);
      },
      get: (name) =>
        Object.hasOwn(deps.settings().models, name) || name === deps.settings().model ? get(name) : undefined,
    },
  };
}
