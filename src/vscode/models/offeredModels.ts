// Lists models for front ends outside the editor: the Guide, and those of VS Code, this machine and the configured
// endpoint.
import * as vscode from 'vscode';
import { findLocalEndpoints, listModels } from '../../models/endpoints.ts';
import { endpointLabel } from '../../models/profile.ts';
import { type OfferedModel } from '../../protocol/page/windowView.ts';
import { listLanguageModels, type ModelCommandDeps, saveModel } from './modelCommands.ts';
import { languageModelName } from './languageModels.ts';

/** An endpoint may have thousands; a menu cannot show them. */
const MOST_OF_AN_ENDPOINT = 200;

interface Offer {
  readonly baseUrl: string;
  readonly model: string;
  readonly label: string;
  readonly detail: string;
}

export class OfferedModels {
  readonly #deps: ModelCommandDeps;
  /** The last list, by id. */
  #offers: ReadonlyMap<string, Offer> = new Map();

  constructor(deps: ModelCommandDeps) {
    this.#deps = deps;
  }

  async list(): Promise<readonly OfferedModel[]> {
    const { baseUrl, model } = this.#deps.settings();
    const [ofVscode, local] = await Promise.all([listLanguageModels(this.#deps), findLocalEndpoints()]);
    const isLocal = local.some((endpoint) => endpoint.baseUrl === baseUrl);
    const offers: readonly Offer[] = [
      { baseUrl: '', model: '', label: 'Guide', detail: vscode.l10n.t('offline, no AI') },
      ...ofVscode.map((one) => ({
        baseUrl: '',
        model: languageModelName(one),
        label: one.name,
        detail: `VS Code, ${one.vendor}`,
      })),
      ...local.flatMap((endpoint) =>
        endpoint.models.map(({ id }) => ({
          baseUrl: endpoint.baseUrl,
          model: id,
          label: id,
          detail: vscode.l10n.t('{0} on this machine', endpoint.label),
        })),
      ),
      ...(baseUrl === '' || isLocal ? [] : await this.#ofEndpoint(baseUrl, model)),
    ];
    this.#offers = new Map(offers.map((offer) => [`${offer.baseUrl} ${offer.model}`, offer]));
    return [...this.#offers].map(([id, { label, detail, ...offer }]) => ({
      id,
      label,
      detail,
      current: offer.model === model && (offer.baseUrl === baseUrl || offer.model === ''),
    }));
  }

  /** False if the model was not in the last list. */
  async choose(id: string): Promise<boolean> {
    const offer = this.#offers.get(id);
    if (offer === undefined) return false;
    await saveModel(offer.baseUrl, offer.model);
    return true;
  }

  /** If the endpoint does not answer, only the model of the settings. */
  async #ofEndpoint(baseUrl: string, model: string): Promise<readonly Offer[]> {
    const listed = await listModels(baseUrl, await this.#deps.keys.get(baseUrl));
    const names = listed.ok ? listed.value.slice(0, MOST_OF_AN_ENDPOINT).map(({ id }) => id) : [];
    const all = names.includes(model) || model === '' ? names : [model, ...names];
    const detail = endpointLabel(baseUrl) ?? new URL(baseUrl).host;
    return all.map((name) => ({ baseUrl, model: name, label: name, detail }));
  }
}
