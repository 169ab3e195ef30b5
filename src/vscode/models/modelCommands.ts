// Choosing at one endpoint, and the command Set API Key: ask, test the connection, and show what is wrong in the server's
// own words, with buttons for the next step.
import * as vscode from 'vscode';
import { type Failure, type Result } from '../../base/errors.ts';
import { type ListedModel, listModels } from '../../models/endpoints.ts';
import { type KnownModels } from '../../models/facts/modelFacts.ts';
import {
  endpointAt,
  findModel,
  freeId,
  PRESETS,
  presetOfKey,
  type Provider,
  providersIn,
  referenceTo,
} from '../../models/providers.ts';
import { type Settings } from '../../protocol/settings.ts';
import { COMMANDS } from '../ids.ts';
import { updateSetting } from '../settings.ts';
import { type LanguageModels } from './languageModels.ts';
import { describeFacts, markCurrent } from './modelTexts.ts';
import { type ApiKeys } from './secrets.ts';
import { failureMessage } from '../failureMessage.ts';

export interface ModelCommandDeps {
  settings(): Settings;
  readonly keys: ApiKeys;
  readonly languageModels: LanguageModels;
  readonly known: KnownModels;
  readonly favourites: vscode.Memento;
  /** The reference of the model in the shown conversation, or in a new one. */
  current(): string;
  /** For the shown conversation and new ones. */
  choose(reference: string): Promise<void>;
  report(error: unknown): void;
}

/** A failure must not hide the other choices. */
export async function listLanguageModels({ languageModels, report }: ModelCommandDeps) {
  try {
    return await languageModels.list();
  } catch (error) {
    report(error);
    return [];
  }
}

/** The configured provider at an address, or an endpoint without an entry. */
export function providerAt(settings: Settings, baseUrl: string): Provider {
  return providersIn(settings).find((one) => one.baseUrl === baseUrl) ?? endpointAt(baseUrl);
}

export async function otherAddress(deps: ModelCommandDeps, value = deps.settings().baseUrl): Promise<void> {
  const typed = await vscode.window.showInputBox({
    title: vscode.l10n.t('Endpoint Address'),
    prompt: vscode.l10n.t('Usually ends in /v1'),
    value: value || 'http://127.0.0.1:11434/v1',
    ignoreFocusOut: true,
    validateInput: (text) =>
      isAddress(text) ? undefined : vscode.l10n.t('Enter an address that begins with http:// or https://.'),
  });
  if (typed !== undefined) await chooseAt(deps, providerAt(deps.settings(), typed.trim()));
}

export function isAddress(text: string): boolean {
  return URL.canParse(text.trim()) && /^https?:$/.test(new URL(text.trim()).protocol);
}

/** Lists the provider's models to choose from. */
export async function chooseAt(deps: ModelCommandDeps, provider: Provider): Promise<void> {
  const listed = await listWithProgress(deps, provider);
  await (listed.ok ? pickModel(deps, provider, listed.value) : offerNextStep(deps, provider, listed.failure));
}

type NextStep = 'setKey' | 'enterName' | 'changeAddress' | 'tryAgain' | 'chooseOther';

/** The most helpful step first. */
const NEXT_STEPS: Readonly<Partial<Record<Failure['code'], readonly NextStep[]>>> = {
  key_missing: ['setKey', 'enterName'],
  key_refused: ['setKey', 'enterName'],
  no_quota: ['tryAgain', 'chooseOther'],
  region_refused: ['chooseOther'],
  no_list: ['changeAddress', 'enterName'],
  list_too_large: ['enterName', 'changeAddress'],
  unreachable: ['tryAgain', 'changeAddress'],
};

export async function offerNextStep(deps: ModelCommandDeps, provider: Provider, failure: Failure): Promise<void> {
  const steps = NEXT_STEPS[failure.code] ?? ['tryAgain', 'enterName'];
  await offerSteps(deps, provider, steps, (...labels) =>
    vscode.window.showErrorMessage(failureMessage(failure), ...labels),
  );
}

async function offerSteps(
  deps: ModelCommandDeps,
  provider: Provider,
  steps: readonly NextStep[],
  show: (...labels: readonly string[]) => Thenable<string | undefined>,
): Promise<void> {
  const all: Readonly<Record<NextStep, readonly [label: string, run: () => Promise<unknown>]>> = {
    setKey: [vscode.l10n.t('Set API Key'), () => setKeyAndChoose(deps, provider)],
    enterName: [vscode.l10n.t('Enter Model Name'), () => typeName(deps, provider)],
    changeAddress: [vscode.l10n.t('Change Address'), () => otherAddress(deps, provider.baseUrl)],
    tryAgain: [vscode.l10n.t('Try Again'), () => chooseAt(deps, provider)],
    chooseOther: [
      vscode.l10n.t('Choose Another Model'),
      async () => vscode.commands.executeCommand(COMMANDS.chooseModel),
    ],
  };
  const offered = steps.map((step) => all[step]);
  const chosen = await show(...offered.map(([label]) => label));
  await offered.find(([label]) => label === chosen)?.[1]();
}

/** Asks a provider for its models; those of its entry in the settings count if it does not list them. */
export async function listAt(
  { keys, known }: Pick<ModelCommandDeps, 'keys' | 'known'>,
  provider: Provider,
  signal?: AbortSignal,
): Promise<Result<readonly ListedModel[]>> {
  const listed = await listModels(provider, await keys.get(provider), signal);
  if (listed.ok) known.note(provider.baseUrl, listed.value);
  const named = (provider.models ?? []).map((id) => ({ id }));
  if (!listed.ok) return named.length > 0 ? { ok: true, value: named } : listed;
  const others = named.filter(({ id }) => !listed.value.some((one) => one.id === id));
  return { ok: true, value: [...others, ...listed.value] };
}

function listWithProgress(deps: ModelCommandDeps, provider: Provider) {
  return withProgress(vscode.l10n.t('Asking {0} for its models…', provider.label), () => listAt(deps, provider));
}

async function pickModel(deps: ModelCommandDeps, provider: Provider, models: readonly ListedModel[]): Promise<void> {
  if (models.length === 0) {
    const text = vscode.l10n.t('{0} has no models. Load a model there, then choose again.', provider.baseUrl);
    await offerSteps(deps, provider, ['tryAgain', 'enterName'], (...labels) =>
      vscode.window.showWarningMessage(text, ...labels),
    );
    return;
  }
  const chosen = await vscode.window.showQuickPick(
    models.map(({ id }) => {
      const item = { label: id, description: describeFacts(deps.known.get(provider.baseUrl, id)) };
      return deps.current() === referenceTo(provider, id) ? markCurrent(item) : item;
    }),
    {
      title: vscode.l10n.t('Models of {0}', provider.label),
      placeHolder: vscode.l10n.t('Select a model'),
      matchOnDescription: true,
    },
  );
  if (chosen !== undefined) await saveModel(deps, provider, chosen.label);
}

async function typeName(deps: ModelCommandDeps, provider: Provider): Promise<void> {
  const name = await vscode.window.showInputBox({ title: vscode.l10n.t('Model Name'), ignoreFocusOut: true });
  if (name !== undefined && name.trim() !== '') await saveModel(deps, provider, name.trim());
}

/** Chooses a model. An endpoint that is not configured gets an entry in `earshot.providers`. */
export async function saveModel(deps: ModelCommandDeps, provider: Provider, model: string): Promise<void> {
  const settings = deps.settings();
  const { baseUrl } = provider;
  if (provider.id !== '' || baseUrl === settings.baseUrl) return deps.choose(referenceTo(provider, model));
  const id = freeId(settings, baseUrl);
  await updateSetting('providers', { ...settings.providers, [id]: { baseUrl } });
  await deps.choose(referenceTo({ id }, model));
}

/** For the provider of the current model; without one the user selects one. */
export async function setApiKey(deps: ModelCommandDeps): Promise<void> {
  const settings = deps.settings();
  const current = findModel(settings, deps.current())?.provider;
  const configured = providersIn(settings);
  if (configured.length === 1 && configured[0]?.id === current?.id && current !== undefined) {
    await askForKey(deps, current);
    return;
  }
  const others = PRESETS.map(({ baseUrl }) => endpointAt(baseUrl)).filter(
    ({ baseUrl }) => !configured.some((one) => one.baseUrl === baseUrl),
  );
  const first = current === undefined ? [] : [current];
  const all = [...first, ...configured.filter(({ id }) => id !== current?.id), ...others];
  const entries = all.map(async (provider) => {
    const known = (await deps.keys.get(provider)) === undefined ? [] : [vscode.l10n.t('key is set')];
    return { label: provider.label, description: [...known, provider.baseUrl].join(' · '), provider };
  });
  const chosen = await vscode.window.showQuickPick(Promise.all(entries), {
    title: vscode.l10n.t('Set API Key'),
    placeHolder: vscode.l10n.t('Select a provider'),
    matchOnDescription: true,
  });
  if (chosen === undefined) return;
  const { provider } = chosen;
  await (provider.id === current?.id ? askForKey(deps, provider) : setKeyAndChoose(deps, provider));
}

async function setKeyAndChoose(deps: ModelCommandDeps, provider: Provider): Promise<void> {
  const asked = await askForKey(deps, provider);
  if (asked?.listed.ok === true) await pickModel(deps, asked.provider, asked.listed.value);
}

interface AskedKey {
  /** Another one than asked for, if the key belongs there. */
  readonly provider: Provider;
  readonly listed: Result<readonly ListedModel[]>;
}

/** Stores the key and tests it with the list of models; undefined: the user has entered none. */
async function askForKey(deps: ModelCommandDeps, provider: Provider): Promise<AskedKey | undefined> {
  const typed = await vscode.window.showInputBox({
    title: vscode.l10n.t('API key for {0}', provider.label),
    prompt: vscode.l10n.t(
      'Stored in VS Code’s secret storage and sent only to {0}. Leave empty to remove the key.',
      new URL(provider.baseUrl).origin,
    ),
    password: true,
    ignoreFocusOut: true,
  });
  const key = typed?.trim();
  const owner = key === undefined ? undefined : await ownerOf(deps, provider, key);
  if (key === undefined || owner === undefined) return undefined;
  await deps.keys.set(owner, key);
  const listed = await listWithProgress(deps, owner);
  if (listed.ok) {
    const count = listed.value.length;
    // Not awaited: it resolves only when the user closes the message.
    const text = vscode.l10n.t('Connected to {0}: {1} models.', owner.label, count);
    const shown = vscode.window.showInformationMessage(text);
    void Promise.resolve(shown).catch(deps.report);
  } else await offerNextStep(deps, owner, listed.failure);
  if (owner === provider || !listed.ok) return { provider: owner, listed };
  await pickModel(deps, owner, listed.value);
  return undefined;
}

/** The form of some keys names their provider: such a key is not sent to another one without a question. */
async function ownerOf(deps: ModelCommandDeps, asked: Provider, key: string): Promise<Provider | undefined> {
  const preset = presetOfKey(key);
  const { origin } = new URL(asked.baseUrl);
  if (preset === undefined || new URL(preset.baseUrl).origin === origin) return asked;
  const use = vscode.l10n.t('Use {0}', preset.label);
  const anyway = vscode.l10n.t('Store for {0}', asked.label);
  const text = vscode.l10n.t('This looks like a key of {0}. It was not sent to {1}.', preset.label, asked.label);
  const answer = await vscode.window.showWarningMessage(text, { modal: true }, use, anyway);
  if (answer === use) return providerAt(deps.settings(), preset.baseUrl);
  return answer === anyway ? asked : undefined;
}

function withProgress<T>(title: string, action: () => Promise<T>): Promise<T> {
  return Promise.resolve(vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, action));
}
