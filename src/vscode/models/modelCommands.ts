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
  const [local, ofVscode] = await withProgress('Looking for models…', () =>
    Promise.all([findLocalEndpoints(), listLanguageModels(deps)]),
  );
  const configured = baseUrl === '' || local.some((endpoint) => endpoint.baseUrl === baseUrl) ? [] : [baseUrl];
  const choice = await vscode.window.showQuickPick<Choice>(
    [
      { label: 'Guide', description: 'offline, no AI', run: () => saveModel('', '') },
      ...languageModelChoices(ofVscode),
      ...local.flatMap((endpoint) => modelChoices(endpoint)),
      separator('Endpoints'),
      ...configured.map((url) => endpointChoice(deps, endpointName(url), url)),
      ...PROVIDERS.filter((one) => one.baseUrl !== baseUrl).map((one) => endpointChoice(deps, one.label, one.baseUrl)),
      { label: 'Other address…', description: 'any OpenAI-compatible endpoint', run: () => otherAddress(deps) },
    ],
    { title: 'Choose Model', placeHolder: 'Select the model that answers', matchOnDescription: true },
  );
  await choice?.run?.();
}

function separator(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

/** A failure must not hide the other choices. */
async function listLanguageModels({ languageModels, report }: ModelCommandDeps) {
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
    description: `${model.vendor}, ${model.maxInputTokens.toLocaleString()} tokens`,
    run: () => saveModel('', languageModelName(model)),
  }));
  return [separator('VS Code'), ...choices];
}

function modelChoices({ baseUrl, label, models }: FoundEndpoint): Choice[] {
  const choices = models.map((model) => ({
    label: model.id,
    description: `${label} on this machine`,
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
    title: 'Endpoint Address',
    prompt: 'Usually ends in /v1',
    value: deps.settings().baseUrl || 'http://127.0.0.1:11434/v1',
    ignoreFocusOut: true,
    validateInput: (text) => (isAddress(text) ? undefined : 'Enter an address that begins with http:// or https://.'),
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
  const actions = code === 'key_missing' || code === 'key_refused' ? ['Set API Key'] : ['Enter Model Name'];
  const chosen = await vscode.window.showErrorMessage(describeFailure(listed.failure), ...actions);
  if (chosen === 'Set API Key' && (await askForKey(deps, baseUrl))) await chooseAt(deps, baseUrl);
  else if (chosen === 'Enter Model Name') await typeName(baseUrl);
}

function listEndpointModels(deps: ModelCommandDeps, baseUrl: string) {
  return withProgress(`Asking ${endpointName(baseUrl)} for its models…`, async () => {
    return listModels(baseUrl, await deps.keys.get(baseUrl));
  });
}

async function pickModel(baseUrl: string, models: readonly ListedModel[]): Promise<void> {
  if (models.length === 0) {
    await vscode.window.showWarningMessage(`${baseUrl} has no models. Load a model there, then choose again.`);
    return;
  }
  const chosen = await vscode.window.showQuickPick(
    models.map(({ id, contextWindow }) => ({
      label: id,
      ...(contextWindow !== undefined && { description: `${contextWindow.toLocaleString()} tokens` }),
    })),
    { title: `Models of ${endpointName(baseUrl)}`, placeHolder: 'Select a model' },
  );
  if (chosen !== undefined) await saveModel(baseUrl, chosen.label);
}

async function typeName(baseUrl: string): Promise<void> {
  const name = await vscode.window.showInputBox({ title: 'Model Name', ignoreFocusOut: true });
  if (name !== undefined && name.trim() !== '') await saveModel(baseUrl, name.trim());
}

async function saveModel(baseUrl: string, model: string): Promise<void> {
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
    { title: 'Set API Key', placeHolder: 'Select an endpoint' },
  );
  if (provider !== undefined && (await askForKey(deps, provider.baseUrl))) await chooseAt(deps, provider.baseUrl);
}

/** Stores the key and tests it. Resolves to whether it works. */
async function askForKey(deps: ModelCommandDeps, baseUrl: string): Promise<boolean> {
  const key = await vscode.window.showInputBox({
    title: `API key for ${endpointName(baseUrl)}`,
    prompt: `Stored in VS Code’s secret storage and sent only to ${new URL(baseUrl).origin}. Leave empty to remove the key.`,
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return false;
  await deps.keys.set(baseUrl, key.trim());
  const listed = await listEndpointModels(deps, baseUrl);
  if (listed.ok) {
    const count = listed.value.length;
    // Not awaited: it resolves when the user closes it.
    const shown = vscode.window.showInformationMessage(`Connected to ${endpointName(baseUrl)}: ${count} models.`);
    void Promise.resolve(shown).catch(deps.report);
    return true;
  }
  await vscode.window.showErrorMessage(describeFailure(listed.failure));
  return false;
}

function withProgress<T>(title: string, action: () => Promise<T>): Promise<T> {
  return Promise.resolve(vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, action));
}
