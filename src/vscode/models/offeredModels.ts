// Lists models for front ends outside the editor: the Guide, and those of VS Code, this machine and the configured
// providers.
import * as vscode from 'vscode';
import { findLocalEndpoints } from '../../models/endpoints.ts';
import { endpointAt, findModel, type Provider, providersIn, referenceTo } from '../../models/providers.ts';
import { type OfferedModel } from '../../protocol/page/windowView.ts';
import { languageModelName } from './languageModels.ts';
import { listAt, listLanguageModels, type ModelCommandDeps, saveModel } from './modelCommands.ts';
import { describeFacts } from './modelTexts.ts';

/** A provider may have thousands; a menu cannot show them. */
const MOST_OF_A_PROVIDER = 200;

interface Offer {
  readonly reference: string;
  readonly label: string;
  readonly detail: string;
  /** Set for a model of an endpoint that is not configured yet. */
  readonly found?: { readonly provider: Provider; readonly model: string };
}

export class OfferedModels {
  readonly #deps: ModelCommandDeps;
  /** The last list, by id. */
  #offers: ReadonlyMap<string, Offer> = new Map();

  constructor(deps: ModelCommandDeps) {
    this.#deps = deps;
  }

  /** `current`: the reference of the model that is marked. */
  async list(current: string): Promise<readonly OfferedModel[]> {
    const settings = this.#deps.settings();
    const configured = providersIn(settings);
    const [ofVscode, local, ofProviders] = await Promise.all([
      listLanguageModels(this.#deps),
      findLocalEndpoints(),
      Promise.all(configured.map((provider) => this.#ofProvider(provider, current))),
    ]);
    const unlisted = local.filter(({ baseUrl }) => !configured.some((provider) => provider.baseUrl === baseUrl));
    const offers: readonly Offer[] = [
      { reference: '', label: 'Guide', detail: vscode.l10n.t('offline, no AI') },
      ...ofVscode.map((one) => ({
        reference: languageModelName(one),
        label: one.name,
        detail: `VS Code, ${one.vendor}`,
      })),
      ...unlisted.flatMap((endpoint) =>
        endpoint.models.map(({ id }) => ({
          reference: `${endpoint.baseUrl} ${id}`,
          label: id,
          detail: vscode.l10n.t('{0} on this machine', endpoint.label),
          found: { provider: endpointAt(endpoint.baseUrl), model: id },
        })),
      ),
      ...ofProviders.flat(),
    ];
    this.#offers = new Map(offers.map((offer) => [offer.reference, offer]));
    return [...this.#offers].map(([id, { label, detail }]) => ({ id, label, detail, current: id === current }));
  }

  /** The model's reference; undefined if it was not in the last list. An endpoint that was found gets an entry. */
  async take(id: string): Promise<string | undefined> {
    const offer = this.#offers.get(id);
    if (offer?.found === undefined) return offer?.reference;
    let reference: string | undefined;
    const choose = async (made: string) => {
      reference = made;
    };
    await saveModel({ ...this.#deps, choose }, offer.found.provider, offer.found.model);
    return reference;
  }

  /** If the provider does not answer, only the current model. */
  async #ofProvider(provider: Provider, current: string): Promise<readonly Offer[]> {
    const listed = await listAt(this.#deps, provider);
    const names = listed.ok ? listed.value.slice(0, MOST_OF_A_PROVIDER).map(({ id }) => id) : [];
    const found = current === '' ? undefined : findModel(this.#deps.settings(), current);
    const isMissing = found?.provider.id === provider.id && !names.includes(found.model);
    return (isMissing ? [found.model, ...names] : names).map((name) => {
      const facts = describeFacts(this.#deps.known.get(provider.baseUrl, name));
      const detail = facts === '' ? provider.label : `${provider.label} · ${facts}`;
      return { reference: referenceTo(provider, name), label: name, detail };
    });
  }
}
