// The list of Choose Model: favourites, the models of the configured providers, of VS Code and this machine, and presets of
// further providers. Marks the current model.
import * as vscode from 'vscode';
import { type Result } from '../../base/errors.ts';
import { type FoundEndpoint, findLocalEndpoints, type ListedModel } from '../../models/endpoints.ts';
import { endpointAt, findModel, PRESETS, type Provider, providersIn, referenceTo } from '../../models/providers.ts';
import { type Settings } from '../../protocol/settings.ts';
import { favouritesIn, toggleFavourite } from './favourites.ts';
import { languageModelName } from './languageModels.ts';
import {
  chooseAt,
  isAddress,
  listAt,
  listLanguageModels,
  type ModelCommandDeps,
  offerNextStep,
  otherAddress,
  providerAt,
  saveModel,
} from './modelCommands.ts';
import { describeFacts, markCurrent } from './modelTexts.ts';
import { failureMessage } from '../failureMessage.ts';

/** Then the list is shown without the models of providers that have not answered. */
const LISTED_MILLISECONDS = 5000;
const MOST_OF_A_PROVIDER = 1000;

interface Choice extends vscode.QuickPickItem {
  /** Finds the entry again after the list has changed. */
  readonly id?: string;
  /** Set for a model that can be a favourite. */
  readonly reference?: string;
  readonly run?: () => Promise<void>;
}

/** What the servers have answered. */
interface Answers {
  readonly ofVscode: readonly vscode.LanguageModelChat[];
  readonly local: readonly FoundEndpoint[];
  readonly providers: readonly { readonly provider: Provider; readonly listed: Result<readonly ListedModel[]> }[];
}

export async function chooseModel(deps: ModelCommandDeps): Promise<void> {
  let answers: Answers = { ofVscode: [], local: [], providers: [] };
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = vscode.l10n.t('Choose Model');
  pick.placeholder = vscode.l10n.t('Type the name of a model or provider, or an address');
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.keepScrollPosition = true;
  pick.busy = true;
  const draw = () => {
    const wanted = pick.activeItems[0]?.id ?? deps.current();
    pick.items = [...typedAddress(deps, pick.value), ...choicesIn(deps, answers, pick.value)];
    const active = pick.items.find(({ id }) => id === wanted);
    if (pick.value === '' && active !== undefined) pick.activeItems = [active];
  };
  let isOpen = true;
  const chosen = new Promise<Choice | undefined>((resolve) => {
    pick.onDidAccept(() => resolve(pick.selectedItems[0]));
    pick.onDidHide(() => resolve(undefined));
  });
  pick.onDidTriggerItemButton(({ item }) => {
    if (item.reference === undefined) return;
    void toggleFavourite(deps.favourites, item.reference).then(draw).catch(deps.report);
  });
  pick.show();
  void Promise.all([listLanguageModels(deps), findLocalEndpoints(), listProviders(deps)])
    .then(([ofVscode, local, providers]) => {
      if (!isOpen) return;
      // All at once: an entry that moves while the user clicks would choose another model.
      answers = { ofVscode, local, providers };
      pick.onDidChangeValue(draw);
      draw();
      pick.busy = false;
    })
    .catch(deps.report);
  const choice = await chosen;
  isOpen = false;
  pick.dispose();
  await choice?.run?.();
}

function listProviders(deps: ModelCommandDeps): Promise<Answers['providers']> {
  const signal = AbortSignal.timeout(LISTED_MILLISECONDS);
  return Promise.all(
    providersIn(deps.settings()).map(async (provider) => ({ provider, listed: await listAt(deps, provider, signal) })),
  );
}

/** An address that was typed into the list. */
function typedAddress(deps: ModelCommandDeps, typed: string): Choice[] {
  if (!isAddress(typed)) return [];
  const address = typed.trim();
  const run = () => chooseAt(deps, providerAt(deps.settings(), address));
  return [{ label: vscode.l10n.t('Use {0}', address), alwaysShow: true, run }];
}

function choicesIn(deps: ModelCommandDeps, { ofVscode, local, providers }: Answers, typed: string): Choice[] {
  const settings = deps.settings();
  const current = deps.current();
  const favourites = favouritesIn(deps.favourites);
  const choice = (reference: string, item: vscode.QuickPickItem, run: () => Promise<void>): Choice => ({
    ...(reference === current ? markCurrent(item) : item),
    id: reference,
    reference,
    buttons: [favouriteButton(favourites.includes(reference))],
    run,
  });
  const ofProvider = (provider: Provider, id: string, withName = false): Choice => {
    const facts = deps.known.get(provider.baseUrl, id);
    const description = [withName ? provider.label : '', describeFacts(facts)]
      .filter((part) => part !== '')
      .join(' · ');
    const detail = facts.name === undefined || facts.name === id ? {} : { detail: facts.name };
    return choice(referenceTo(provider, id), { label: id, description, ...detail }, () =>
      saveModel(deps, provider, id),
    );
  };
  /** First while nothing is typed; otherwise last and always shown, so that the list is never without a way on. */
  const other: Choice = {
    label: vscode.l10n.t('Other address…'),
    description: vscode.l10n.t('any OpenAI-compatible endpoint'),
    id: 'other',
    alwaysShow: true,
    run: () => otherAddress(deps),
  };
  const unlisted = local.filter(({ baseUrl }) => !providers.some(({ provider }) => provider.baseUrl === baseUrl));
  const guide = { label: 'Guide', description: vscode.l10n.t('offline, no AI') };
  const loved = favourites.flatMap((reference) => favouriteChoice(settings, reference, ofProvider));
  return [
    {
      ...(current === '' ? markCurrent(guide) : guide),
      id: '',
      run: () => deps.choose(''),
    },
    ...(loved.length === 0 ? [] : [separator(vscode.l10n.t('Favorites')), ...loved]),
    ...providers.flatMap(({ provider, listed }) => [
      separator(`${provider.label} · ${provider.baseUrl}`),
      ...modelsOf(settings, current, provider, listed).map((id) => ofProvider(provider, id)),
      ...refusedList(deps, provider, listed),
    ]),
    ...(ofVscode.length === 0 ? [] : [separator('VS Code')]),
    ...ofVscode.map((one) => {
      const reference = languageModelName(one);
      const tokens = vscode.l10n.t('{0} tokens', one.maxInputTokens.toLocaleString());
      return choice(reference, { label: one.name, description: `${one.vendor}, ${tokens}` }, () =>
        deps.choose(reference),
      );
    }),
    ...unlisted.flatMap((endpoint) => [
      separator(`${endpoint.label} · ${endpoint.baseUrl}`),
      ...endpoint.models.map(({ id }) => ({
        label: id,
        description: vscode.l10n.t('{0} on this machine', endpoint.label),
        id: `${endpoint.baseUrl} ${id}`,
        run: () => saveModel(deps, endpointAt(endpoint.baseUrl), id),
      })),
    ]),
    separator(vscode.l10n.t('Providers')),
    ...(typed === '' ? [other] : []),
    ...PRESETS.filter(({ baseUrl }) => !providers.some(({ provider }) => provider.baseUrl === baseUrl)).map((one) => ({
      label: `${one.label}…`,
      description: one.models === undefined ? one.baseUrl : `${one.models} · ${one.baseUrl}`,
      id: one.baseUrl,
      run: () => chooseAt(deps, endpointAt(one.baseUrl)),
    })),
    ...(typed === '' ? [] : [other]),
  ];
}

/** A favourite of a provider that is no longer configured is not shown. */
function favouriteChoice(
  settings: Settings,
  reference: string,
  ofProvider: (provider: Provider, id: string, withName: boolean) => Choice,
): Choice[] {
  const found = findModel(settings, reference);
  if (found === undefined) return [];
  // Another id than in the list below, where the same model is found again.
  return [{ ...ofProvider(found.provider, found.model, true), id: `favourite ${reference}` }];
}

/** The current model may be one that the provider does not list. */
function modelsOf(
  settings: Settings,
  current: string,
  provider: Provider,
  listed: Result<readonly ListedModel[]>,
): readonly string[] {
  const names = listed.ok ? listed.value.slice(0, MOST_OF_A_PROVIDER).map(({ id }) => id) : [];
  const found = current === '' ? undefined : findModel(settings, current);
  const isMissing = found?.provider.id === provider.id && !names.includes(found.model);
  return isMissing ? [found.model, ...names] : names;
}

function favouriteButton(isFavourite: boolean): vscode.QuickInputButton {
  return isFavourite
    ? { iconPath: new vscode.ThemeIcon('star-full'), tooltip: vscode.l10n.t('Remove from Favorites') }
    : { iconPath: new vscode.ThemeIcon('star-empty'), tooltip: vscode.l10n.t('Add to Favorites') };
}

/** Says why a provider lists no models, and leads to the next step. */
function refusedList(deps: ModelCommandDeps, provider: Provider, listed: Result<readonly ListedModel[]>): Choice[] {
  if (listed.ok) return [];
  const { failure } = listed;
  return [
    {
      label: vscode.l10n.t('The models could not be listed…'),
      iconPath: new vscode.ThemeIcon('warning'),
      detail: failureMessage(failure),
      id: `refused ${provider.id}`,
      run: () => offerNextStep(deps, provider, failure),
    },
  ];
}

function separator(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
