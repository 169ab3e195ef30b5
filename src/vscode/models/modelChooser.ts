// Finds models by their references: those of providers, those of VS Code, and the Guide.
import { type Model, type Ports } from '../../core/ports/ports.ts';
import { type ConfiguredModelsDeps, createConfiguredModels } from '../../models/configuredModels.ts';
import { alternativesTo } from '../../models/facts/alternatives.ts';
import { createGuideModel } from '../../models/guide/guide.ts';
import { providersIn, referenceTo } from '../../models/providers.ts';
import { type ConversationChoice } from '../../protocol/page/controlsView.ts';
import { modelOptions } from '../../protocol/settings.ts';
import { LANGUAGE_MODEL_PREFIX, type LanguageModels } from './languageModels.ts';

export function createModelChooser(
  deps: ConfiguredModelsDeps & {
    readonly languageModels: LanguageModels;
    /** What new conversations start with. */
    lastChoice(): ConversationChoice;
    /** The references of the user's favourites. */
    favourites(): readonly string[];
  },
): { model(): Model; readonly models: NonNullable<Ports['models']> } {
  const guide = createGuideModel();
  const configured = createConfiguredModels(deps);
  const ofVscode = new Map<string, { readonly options: string; readonly model: Model }>();
  const get = (reference: string): Model | undefined => {
    if (reference === '') return guide;
    if (!reference.startsWith(LANGUAGE_MODEL_PREFIX)) return configured(reference);
    const given = modelOptions(deps.settings(), reference);
    const options = JSON.stringify(given);
    const known = ofVscode.get(reference);
    if (known?.options === options) return known.model;
    const model = deps.languageModels.model(reference, given);
    ofVscode.set(reference, { options, model });
    return model;
  };
  return {
    model: () => {
      const chosen = deps.lastChoice().model;
      return (chosen === undefined ? undefined : get(chosen)) ?? get(deps.settings().model) ?? guide;
    },
    models: {
      get names() {
        const settings = deps.settings();
        const listed = providersIn(settings).flatMap((one) => (one.models ?? []).map((name) => referenceTo(one, name)));
        return [...new Set([...Object.keys(settings.models), ...listed])];
      },
      get,
      alternatives: (reference) =>
        alternativesTo(reference, { settings: deps.settings(), favourites: deps.favourites(), known: deps.known }),
    },
  };
}
