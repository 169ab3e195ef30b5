// Chooses the model that answers: the one in the settings, created again only when they change; otherwise the Guide.
import { type Model } from '../../core/ports/ports.ts';
import { type EndpointMemory } from '../../models/endpointMemory.ts';
import { createGuideModel } from '../../models/guide/guide.ts';
import { createOpenAiModel } from '../../models/openai/openai.ts';
import { type Settings } from '../../protocol/settings.ts';
import { LANGUAGE_MODEL_PREFIX, type LanguageModels } from './languageModels.ts';
import { type ApiKeys } from './secrets.ts';

export function createModelChooser(deps: {
  settings(): Settings;
  readonly keys: ApiKeys;
  readonly memory: Promise<EndpointMemory>;
  readonly languageModels: LanguageModels;
}): () => Model {
  const { keys, memory } = deps;
  const guide = createGuideModel();
  let last: { name: string; model: Model } | undefined;
  return () => {
    const { baseUrl, model, models } = deps.settings();
    const ofVscode = model.startsWith(LANGUAGE_MODEL_PREFIX);
    if (model === '' || (baseUrl === '' && !ofVscode)) return guide;
    const options = models[model] ?? {};
    const name = JSON.stringify([baseUrl, model, options]);
    if (last?.name !== name) {
      const made = ofVscode
        ? deps.languageModels.model(model, options)
        : createOpenAiModel({ baseUrl, model, options, memory, apiKey: () => keys.get(baseUrl) });
      last = { name, model: made };
    }
    return last.model;
  };
}
