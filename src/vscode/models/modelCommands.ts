// Choosing at one endpoint, and the command Set API Key: ask, test the connection, and show what is wrong in the server's
// own words, with buttons for the next step.
import * as vscode from 'vscode';
import { type Failure, type Result } from '../../base/errors.ts';
import { type ListedModel, listModels } from '../../models/endpoints.ts';
import { endpointLabel } from '../../models/profile.ts';
import { PROVIDERS } from '../../models/providers.ts';
import { type Settings } from '../../protocol/settings.ts';
import { COMMANDS } from '../ids.ts';
import { updateSetting } from '../settings.ts';
import { type LanguageModels } from './languageModels.ts';
import { type ApiKeys } from './secrets.ts';
import { failureMessage } from '../failureMessage.ts';

export interface ModelCommandDeps {
  settings(): Settings;
  readonly keys: ApiKeys;
  readonly languageModels: LanguageModels;
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

export function endpointName(baseUrl: string): string {
  return endpointLabel(baseUrl) ?? new URL(baseUrl).host;
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
  if (typed !== undefined) await chooseAt(deps, typed.trim());
}

export function isAddress(text: string): boolean {
  return URL.canParse(text.trim()) && /^https?:$/.test(new URL(text.trim()).protocol);
}

/** Lists the endpoint's models to choose from. */
export async function chooseAt(deps: ModelCommandDeps, baseUrl: string): Promise<void> {
  const listed = await listEndpointModels(deps, baseUrl);
  await (listed.ok ? pickModel(deps, baseUrl, listed.value) : offerNextStep(deps, baseUrl, listed.failure));
}

type NextStep = 'setKey' | 'enterName' | 'changeAddress' | 'tryAgain' | 'chooseOther';

/** The most helpful step first. */
const NEXT_STEPS: Readonly<Partial<Record<Failure['code'], readonly NextStep[]>>> = {
  key_missing: ['setKey', 'enterName'],
  key_refused: ['setKey', 'enterName'],
  no_quota: ['tryAgain', 'chooseOther'],
  no_list: ['changeAddress', 'enterName'],
  list_too_large: ['enterName', 'changeAddress'],
  unreachable: ['tryAgain', 'changeAddress'],
};

export async function offerNextStep(deps: ModelCommandDeps, baseUrl: string, failure: Failure): Promise<void> {
  const steps = NEXT_STEPS[failure.code] ?? ['tryAgain', 'enterName'];
  await offerSteps(deps, baseUrl, steps, (...labels) =>
    vscode.window.showErrorMessage(failureMessage(failure), ...labels),
  );
}

async function offerSteps(
  deps: ModelCommandDeps,
  baseUrl: string,
  steps: readonly NextStep[],
  show: (...labels: readonly string[]) => Thenable<string | undefined>,
): Promise<void> {
  const all: Readonly<Record<NextStep, readonly [label: string, run: () => Promise<unknown>]>> = {
    setKey: [vscode.l10n.t('Set API Key'), () => setKeyAndChoose(deps, baseUrl)],
    enterName: [vscode.l10n.t('Enter Model Name'), () => typeName(baseUrl)],
    changeAddress: [vscode.l10n.t('Change Address'), () => otherAddress(deps, baseUrl)],
    tryAgain: [vscode.l10n.t('Try Again'), () => chooseAt(deps, baseUrl)],
    chooseOther: [
      vscode.l10n.t('Choose Another Model'),
      async () => vscode.commands.executeCommand(COMMANDS.chooseModel),
    ],
  };
  const offered = steps.map((step) => all[step]);
  const chosen = await show(...offered.map(([label]) => label));
  await offered.find(([label]) => label === chosen)?.[1]();
}

function listEndpointModels(deps: ModelCommandDeps, baseUrl: string) {
  return withProgress(vscode.l10n.t('Asking {0} for its models…', endpointName(baseUrl)), async () => {
    return listModels(baseUrl, await deps.keys.get(baseUrl));
  });
}

async function pickModel(deps: ModelCommandDeps, baseUrl: string, models: readonly ListedModel[]): Promise<void> {
  if (models.length === 0) {
    const text = vscode.l10n.t('{0} has no models. Load a model there, then choose again.', baseUrl);
    await offerSteps(deps, baseUrl, ['tryAgain', 'enterName'], (...labels) =>
      vscode.window.showWarningMessage(text, ...labels),
    );
    return;
  }
  const current = deps.settings();
  const chosen = await vscode.window.showQuickPick(
    models.map((model) => {
      const item = { label: model.id, ...tokensOf(model) };
      return baseUrl === current.baseUrl && model.id === current.model ? markCurrent(item) : item;
    }),
    { title: vscode.l10n.t('Models of {0}', endpointName(baseUrl)), placeHolder: vscode.l10n.t('Select a model') },
  );
  if (chosen !== undefined) await saveModel(baseUrl, chosen.label);
}

export function markCurrent<T extends vscode.QuickPickItem>(item: T): T {
  const current = vscode.l10n.t('current model');
  const description = item.description === undefined ? current : `${item.description} · ${current}`;
  return { ...item, iconPath: new vscode.ThemeIcon('check'), description };
}

export function tokensOf({ contextWindow }: ListedModel): { readonly description?: string } {
  if (contextWindow === undefined) return {};
  return { description: vscode.l10n.t('{0} tokens', contextWindow.toLocaleString()) };
}

async function typeName(baseUrl: string): Promise<void> {
  const name = await vscode.window.showInputBox({ title: vscode.l10n.t('Model Name'), ignoreFocusOut: true });
  if (name !== undefined && name.trim() !== '') await saveModel(baseUrl, name.trim());
}

export async function saveModel(baseUrl: string, model: string): Promise<void> {
  await updateSetting('baseUrl', baseUrl === '' ? undefined : baseUrl);
  await updateSetting('model', model === '' ? undefined : model);
}

export async function setApiKey(deps: ModelCommandDeps): Promise<void> {
  const { baseUrl } = deps.settings();
  if (baseUrl !== '') {
    await askForKey(deps, baseUrl);
    return;
  }
  const provider = await vscode.window.showQuickPick(
    PROVIDERS.map((one) => ({ ...one, description: one.baseUrl })),
    { title: vscode.l10n.t('Set API Key'), placeHolder: vscode.l10n.t('Select an endpoint') },
  );
  if (provider !== undefined) await setKeyAndChoose(deps, provider.baseUrl);
}

async function setKeyAndChoose(deps: ModelCommandDeps, baseUrl: string): Promise<void> {
  const listed = await askForKey(deps, baseUrl);
  if (listed?.ok === true) await pickModel(deps, baseUrl, listed.value);
}

/** Stores the key and tests it with the list of models; undefined: the user has entered none. */
async function askForKey(deps: ModelCommandDeps, baseUrl: string): Promise<Result<readonly ListedModel[]> | undefined> {
  const key = await vscode.window.showInputBox({
    title: vscode.l10n.t('API key for {0}', endpointName(baseUrl)),
    prompt: vscode.l10n.t(
      'Stored in VS Code’s secret storage and sent only to {0}. Leave empty to remove the key.',
      new URL(baseUrl).origin,
    ),
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return undefined;
  await deps.keys.set(baseUrl, key.trim());
  const listed = await listEndpointModels(deps, baseUrl);
  if (listed.ok) {
    const count = listed.value.length;
    // Not awaited: it resolves only when the user closes the message.
    const text = vscode.l10n.t('Connected to {0}: {1} models.', endpointName(baseUrl), count);
    const shown = vscode.window.showInformationMessage(text);
    void Promise.resolve(shown).catch(deps.report);
  } else await offerNextStep(deps, baseUrl, listed.failure);
  return listed;
}

function withProgress<T>(title: string, action: () => Promise<T>): Promise<T> {
  return Promise.resolve(vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, action));
}
