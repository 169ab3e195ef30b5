// The commands Choose Model and Set API Key: ask, test the connection, and say what is wrong.
import * as vscode from 'vscode';
import { describeFailure } from '../../base/errors.ts';
import { type FoundEndpoint, findLocalEndpoints, type ListedModel, listModels } from '../../models/endpoints.ts';
import { endpointLabel } from '../../models/profile.ts';
import { type Settings } from '../../protocol/settings.ts';
import { updateSetting } from '../settings.ts';
import { type LanguageModels, languageModelName } from './languageModels.ts';
import { type ApiKeys } from './secrets.ts';

/** Offered by name; any other address can be typed. */
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
      { label: 'Guide', description: 'offline, no AI', run: () => save('', '') },
      ...languageModelChoices(ofVscode),
      ...local.flatMap((endpoint) => modelChoices(endpoint)),
      separator('Endpoints'),
      ...configured.map((url) => endpointChoice(deps, nameOf(url), url)),
      ...PROVIDERS.filter((one) => one.baseUrl !== baseUrl).map((one) => endpointChoice(deps, one.label, one.baseUrl)),
      { label: 'Other address…', description: 'any OpenAI-compatible endpoint', run: () => otherAddress(deps) },
    ],
    { title: 'Choose Model', placeHolder: 'Which model shall answer?', matchOnDescription: true },
  );
  await choice?.run?.();
}

function separator(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

/** Without them the other choices are as good as ever. */
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
    run: () => save('', languageModelName(model)),
  }));
  return [separator('VS Code'), ...choices];
}

function modelChoices({ baseUrl, label, models }: FoundEndpoint): Choice[] {
  const choices = models.map((model) => ({
    label: model.id,
    description: `${label} on this machine`,
    run: () => save(baseUrl, model.id),
  }));
  return [separator(`${label} · ${baseUrl}`), ...choices];
}

function endpointChoice(deps: ModelCommandDeps, label: string, baseUrl: string): Choice {
  return { label: `${label}…`, description: baseUrl, run: () => chooseAt(deps, baseUrl) };
}

function nameOf(baseUrl: string): string {
  return endpointLabel(baseUrl) ?? new URL(baseUrl).host;
}

async function otherAddress(deps: ModelCommandDeps): Promise<void> {
  const typed = await vscode.window.showInputBox({
    title: 'Address of the endpoint',
    prompt: 'Usually ends in /v1',
    value: deps.settings().baseUrl || 'http://127.0.0.1:11434/v1',
    ignoreFocusOut: true,
    validateInput: (text) => (isAddress(text) ? undefined : 'An address that begins with http:// or https://'),
  });
  if (typed !== undefined) await chooseAt(deps, typed.trim());
}

function isAddress(text: string): boolean {
  return URL.canParse(text.trim()) && /^https?:$/.test(new URL(text.trim()).protocol);
}

/** Lists the endpoint's models, asking for a key where one is wanted. */
async function chooseAt(deps: ModelCommandDeps, baseUrl: string): Promise<void> {
  const listed = await list(deps, baseUrl);
  if (listed.ok) return pick(baseUrl, listed.value);
  const { code } = listed.failure;
  const actions = code === 'key_missing' || code === 'key_refused' ? ['Set API Key'] : ['Type a model’s name'];
  const chosen = await vscode.window.showErrorMessage(describeFailure(listed.failure), ...actions);
  if (chosen === 'Set API Key' && (await askForKey(deps, baseUrl))) await chooseAt(deps, baseUrl);
  else if (chosen === 'Type a model’s name') await typeName(baseUrl);
}

function list(deps: ModelCommandDeps, baseUrl: string) {
  return withProgress(`Asking ${nameOf(baseUrl)} for its models…`, async () => {
    return listModels(baseUrl, await deps.keys.get(baseUrl));
  });
}

async function pick(baseUrl: string, models: readonly ListedModel[]): Promise<void> {
  if (models.length === 0) {
    await vscode.window.showWarningMessage(`${baseUrl} has no model. Load one there, then choose again.`);
    return;
  }
  const chosen = await vscode.window.showQuickPick(
    models.map(({ id, contextWindow }) => ({
      label: id,
      ...(contextWindow !== undefined && { description: `${contextWindow.toLocaleString()} tokens` }),
    })),
    { title: `Models of ${nameOf(baseUrl)}`, placeHolder: 'Which one?' },
  );
  if (chosen !== undefined) await save(baseUrl, chosen.label);
}

async function typeName(baseUrl: string): Promise<void> {
  const name = await vscode.window.showInputBox({ title: 'Name of the model', ignoreFocusOut: true });
  if (name !== undefined && name.trim() !== '') await save(baseUrl, name.trim());
}

async function save(baseUrl: string, model: string): Promise<void> {
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
    { title: 'Set API Key', placeHolder: 'For which endpoint?' },
  );
  if (provider !== undefined && (await askForKey(deps, provider.baseUrl))) await chooseAt(deps, provider.baseUrl);
}

/** Kept only if the person gave one; tested at once, and what is wrong is said. Resolves to whether it works. */
async function askForKey(deps: ModelCommandDeps, baseUrl: string): Promise<boolean> {
  const key = await vscode.window.showInputBox({
    title: `API key for ${nameOf(baseUrl)}`,
    prompt: `Kept in the editor’s secret storage, sent only to ${new URL(baseUrl).origin}. Empty: forgets it.`,
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return false;
  await deps.keys.set(baseUrl, key.trim());
  const listed = await list(deps, baseUrl);
  if (listed.ok) {
    const count = listed.value.length;
    // Nobody waits for it to be read.
    const shown = vscode.window.showInformationMessage(`${nameOf(baseUrl)} answers and has ${count} models.`);
    void Promise.resolve(shown).catch(deps.report);
    return true;
  }
  await vscode.window.showErrorMessage(describeFailure(listed.failure));
  return false;
}

function withProgress<T>(title: string, action: () => Promise<T>): Promise<T> {
  return Promise.resolve(vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, action));
}
