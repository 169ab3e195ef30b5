// The commands Choose Model and Set API Key: ask, test the connection, and show what is wrong.
import * as vscode from 'vscode';
import { describeFailure } from '../../base/errors.ts';
import { type FoundEndpoint, findLocalEndpoints, type ListedModel, listModels } from '../../models/endpoints.ts';
import { endpointLabel } from '../../models/profile.ts';
import { type Settings } from '../../protocol/settings.ts';
import { updateSetting } from '../settings.ts';
import { type LanguageModels, languageModelName } from './languageModels.ts';
import { type ApiKeys } from './secrets.ts';

/** Offered by name; any other address can be entered. */
const PROVIDERS = [
  { label: 'OpenAI', baseUrl: 'https://api.openai.com/v1' },
  { label: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1' },
  { label: 'Mistral', baseUrl: 'https://api.mistral.ai/v1' },
];

export interface ModelCommandDeps {
  settings(): Settings;
  readonly keys: ApiKeys;
  readonly languageModels: LanguageModels;
  report(error: unknown): void;
}

interface Choice extends vscode.QuickPickItem {
  readonly run?: () => Promise<void>;
}

export async function chooseModel(deps: ModelCommandDeps): Promise<void> {
  const { baseUrl } = deps.settings();
  const [local, ofVscode] = await withProgress(vscode.l10n.t('Looking for models…'), () =>
    Promise.all([findLocalEndpoints(), listLanguageModels(deps)]),
  );
  const configured = baseUrl === '' || local.some((endpoint) => endpoint.baseUrl === baseUrl) ? [] : [baseUrl];
  const choice = await vscode.window.showQuickPick<Choice>(
    [
      { label: 'Guide', description: vscode.l10n.t('offline, no AI'), run: () => saveModel('', '') },
      ...languageModelChoices(ofVscode),
      ...local.flatMap((endpoint) => modelChoices(endpoint)),
      separator(vscode.l10n.t('Endpoints')),
      ...configured.map((url) => endpointChoice(deps, endpointName(url), url)),
      ...PROVIDERS.filter((one) => one.baseUrl !== baseUrl).map((one) => endpointChoice(deps, one.label, one.baseUrl)),
      {
        label: vscode.l10n.t('Other address…'),
        description: vscode.l10n.t('any OpenAI-compatible endpoint'),
        run: () => otherAddress(deps),
      },
    ],
    {
      title: vscode.l10n.t('Choose Model'),
      placeHolder: vscode.l10n.t('Select the model that answers'),
      matchOnDescription: true,
    },
  );
  await choice?.run?.();
}

function separator(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
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

function languageModelChoices(models: readonly vscode.LanguageModelChat[]): Choice[] {
  if (models.length === 0) return [];
  const choices = models.map((model) => ({
    label: model.name,
    description: `${model.vendor}, ${vscode.l10n.t('{0} tokens', model.maxInputTokens.toLocaleString())}`,
    run: () => saveModel('', languageModelName(model)),
  }));
  return [separator('VS Code'), ...choices];
}

function modelChoices({ baseUrl, label, models }: FoundEndpoint): Choice[] {
  const choices = models.map((model) => ({
    label: model.id,
    description: vscode.l10n.t('{0} on this machine', label),
    run: () => saveModel(baseUrl, model.id),
  }));
  return [separator(`${label} · ${baseUrl}`), ...choices];
}

function endpointChoice(deps: ModelCommandDeps, label: string, baseUrl: string): Choice {
  return { label: `${label}…`, description: baseUrl, run: () => chooseAt(deps, baseUrl) };
}

function endpointName(baseUrl: string): string {
  return endpointLabel(baseUrl) ?? new URL(baseUrl).host;
}

async function otherAddress(deps: ModelCommandDeps): Promise<void> {
  const typed = await vscode.window.showInputBox({
    title: vscode.l10n.t('Endpoint Address'),
    prompt: vscode.l10n.t('Usually ends in /v1'),
    value: deps.settings().baseUrl || 'http://127.0.0.1:11434/v1',
    ignoreFocusOut: true,
    validateInput: (text) =>
      isAddress(text) ? undefined : vscode.l10n.t('Enter an address that begins with http:// or https://.'),
  });
  if (typed !== undefined) await chooseAt(deps, typed.trim());
}

function isAddress(text: string): boolean {
  return URL.canParse(text.trim()) && /^https?:$/.test(new URL(text.trim()).protocol);
}

/** Lists the endpoint's models, and offers to set a key if it needs one. */
async function chooseAt(deps: ModelCommandDeps, baseUrl: string): Promise<void> {
  const listed = await listEndpointModels(deps, baseUrl);
  if (listed.ok) return pickModel(baseUrl, listed.value);
  const { code } = listed.failure;
  const [setKey, enterName] = [vscode.l10n.t('Set API Key'), vscode.l10n.t('Enter Model Name')];
  const action = code === 'key_missing' || code === 'key_refused' ? setKey : enterName;
  const chosen = await vscode.window.showErrorMessage(describeFailure(listed.failure), action);
  if (chosen === setKey && (await askForKey(deps, baseUrl))) await chooseAt(deps, baseUrl);
  else if (chosen === enterName) await typeName(baseUrl);
}

function listEndpointModels(deps: ModelCommandDeps, baseUrl: string) {
  return withProgress(vscode.l10n.t('Asking {0} for its models…', endpointName(baseUrl)), async () => {
    return listModels(baseUrl, await deps.keys.get(baseUrl));
  });
}

async function pickModel(baseUrl: string, models: readonly ListedModel[]): Promise<void> {
  if (models.length === 0) {
    await vscode.window.showWarningMessage(
      vscode.l10n.t('{0} has no models. Load a model there, then choose again.', baseUrl),
    );
    return;
  }
  const chosen = await vscode.window.showQuickPick(
    models.map(({ id, contextWindow }) => ({
      label: id,
      ...(contextWindow !== undefined && {
        description: vscode.l10n.t('{0} tokens', contextWindow.toLocaleString()),
      }),
    })),
    { title: vscode.l10n.t('Models of {0}', endpointName(baseUrl)), placeHolder: vscode.l10n.t('Select a model') },
  );
  if (chosen !== undefined) await saveModel(baseUrl, chosen.label);
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
  if (provider !== undefined && (await askForKey(deps, provider.baseUrl))) await chooseAt(deps, provider.baseUrl);
}

/** Stores the key and tests it. Resolves to whether it works. */
async function askForKey(deps: ModelCommandDeps, baseUrl: string): Promise<boolean> {
  const key = await vscode.window.showInputBox({
    title: vscode.l10n.t('API key for {0}', endpointName(baseUrl)),
    prompt: vscode.l10n.t(
      'Stored in VS Code’s secret storage and sent only to {0}. Leave empty to remove the key.',
      new URL(baseUrl).origin,
    ),
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return false;
  await deps.keys.set(baseUrl, key.trim());
  const listed = await listEndpointModels(deps, baseUrl);
  if (listed.ok) {
    const count = listed.value.length;
    // Not awaited: it resolves only when the user closes the message.
    const text = vscode.l10n.t('Connected to {0}: {1} models.', endpointName(baseUrl), count);
    const shown = vscode.window.showInformationMessage(text);
    void Promise.resolve(shown).catch(deps.report);
    return true;
  }
  await vscode.window.showErrorMessage(describeFailure(listed.failure));
  return false;
}

function withProgress<T>(title: string, action: () => Promise<T>): Promise<T> {
  return Promise.resolve(vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, action));
}
