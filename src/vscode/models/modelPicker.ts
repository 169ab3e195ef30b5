// The list of Choose Model: the models of the current endpoint, of VS Code and this machine, and providers. Marks the
// current model.
import * as vscode from 'vscode';
import { type Result } from '../../base/errors.ts';
import { type FoundEndpoint, findLocalEndpoints, type ListedModel, listModels } from '../../models/endpoints.ts';
import { PROVIDERS } from '../../models/providers.ts';
import { languageModelName } from './languageModels.ts';
import {
  chooseAt,
  endpointName,
  isAddress,
  listLanguageModels,
  markCurrent,
  type ModelCommandDeps,
  offerNextStep,
  otherAddress,
  saveModel,
  tokensOf,
} from './modelCommands.ts';

/** Then the list is shown without the models of the current endpoint. */
const CURRENT_MILLISECONDS = 5000;

interface Choice extends vscode.QuickPickItem {
  /** Finds the entry again after the list has changed. */
  readonly id?: string;
  readonly run?: () => Promise<void>;
}

/** What the servers have answered. */
interface Answers {
  ofVscode: readonly vscode.LanguageModelChat[];
  local: readonly FoundEndpoint[];
  /** Of the current endpoint; undefined: there is none. */
  current: Result<readonly ListedModel[]> | undefined;
}

export async function chooseModel(deps: ModelCommandDeps): Promise<void> {
  const { baseUrl, model } = deps.settings();
  const answers: Answers = { ofVscode: [], local: [], current: undefined };
  const pick = vscode.window.createQuickPick<Choice>();
  pick.title = vscode.l10n.t('Choose Model');
  pick.placeholder = vscode.l10n.t('Type the name of a model or provider, or an address');
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.keepScrollPosition = true;
  pick.busy = true;
  const draw = () => {
    const wanted = pick.activeItems[0]?.id ?? idOf(baseUrl, model);
    pick.items = [...typedAddress(deps, pick.value), ...choicesIn(deps, answers, pick.value)];
    const active = pick.items.find(({ id }) => id === wanted);
    if (pick.value === '' && active !== undefined) pick.activeItems = [active];
  };
  let isOpen = true;
  const chosen = new Promise<Choice | undefined>((resolve) => {
    pick.onDidAccept(() => resolve(pick.selectedItems[0]));
    pick.onDidHide(() => resolve(undefined));
  });
  pick.show();
  const current = async () =>
    baseUrl === ''
      ? undefined
      : listModels(baseUrl, await deps.keys.get(baseUrl), AbortSignal.timeout(CURRENT_MILLISECONDS));
  void Promise.all([listLanguageModels(deps), findLocalEndpoints(), current()])
    .then(([ofVscode, local, ofEndpoint]) => {
      if (!isOpen) return;
      // All at once: an entry that moves while the user clicks would choose another model.
      Object.assign(answers, { ofVscode, local, current: ofEndpoint } satisfies Answers);
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

function idOf(baseUrl: string, model: string): string {
  return model === '' ? 'Guide' : `${baseUrl} ${model}`;
}

/** An address that was typed into the list. */
function typedAddress(deps: ModelCommandDeps, typed: string): Choice[] {
  if (!isAddress(typed)) return [];
  const address = typed.trim();
  return [{ label: vscode.l10n.t('Use {0}', address), alwaysShow: true, run: () => chooseAt(deps, address) }];
}

function choicesIn(deps: ModelCommandDeps, { ofVscode, local, current }: Answers, typed: string): Choice[] {
  const { baseUrl, model } = deps.settings();
  const isCurrent = idOf(baseUrl, model);
  const choice = (at: string, name: string, item: vscode.QuickPickItem): Choice => {
    const id = idOf(at, name);
    return { ...(id === isCurrent ? markCurrent(item) : item), id, run: () => saveModel(at, name) };
  };
  /** First while nothing is typed; otherwise last and always shown, so that the list is never without a way on. */
  const other: Choice = {
    label: vscode.l10n.t('Other address…'),
    description: vscode.l10n.t('any OpenAI-compatible endpoint'),
    id: 'other',
    alwaysShow: true,
    run: () => otherAddress(deps),
  };
  const isLocal = local.some((endpoint) => endpoint.baseUrl === baseUrl);
  const ofEndpoint = current?.ok === true ? current.value : [];
  /** The settings may name a model that the endpoint does not list. */
  const own = ofEndpoint.some(({ id }) => id === model) || model === '' ? ofEndpoint : [{ id: model }, ...ofEndpoint];
  return [
    choice('', '', { label: 'Guide', description: vscode.l10n.t('offline, no AI') }),
    ...(baseUrl === '' || isLocal
      ? []
      : [
          separator(`${endpointName(baseUrl)} · ${baseUrl}`),
          ...own.map((one) => choice(baseUrl, one.id, { label: one.id, ...tokensOf(one) })),
          ...refusedList(deps, baseUrl, current),
        ]),
    ...(ofVscode.length === 0 ? [] : [separator('VS Code')]),
    ...ofVscode.map((one) =>
      choice('', languageModelName(one), {
        label: one.name,
        description: `${one.vendor}, ${vscode.l10n.t('{0} tokens', one.maxInputTokens.toLocaleString())}`,
      }),
    ),
    ...local.flatMap((endpoint) => [
      separator(`${endpoint.label} · ${endpoint.baseUrl}`),
      ...endpoint.models.map(({ id }) =>
        choice(endpoint.baseUrl, id, {
          label: id,
          description: vscode.l10n.t('{0} on this machine', endpoint.label),
        }),
      ),
    ]),
    separator(vscode.l10n.t('Endpoints')),
    ...(typed === '' ? [other] : []),
    ...PROVIDERS.filter((one) => one.baseUrl !== baseUrl).map((one) => ({
      label: `${one.label}…`,
      description: one.models === undefined ? one.baseUrl : `${one.models} · ${one.baseUrl}`,
      id: one.baseUrl,
      run: () => chooseAt(deps, one.baseUrl),
    })),
    ...(typed === '' ? [] : [other]),
  ];
}

/** Says why the current endpoint lists no models, and leads to the next step. */
function refusedList(deps: ModelCommandDeps, baseUrl: string, current: Answers['current']): Choice[] {
  if (current === undefined || current.ok) return [];
  const { failure } = current;
  return [
    {
      label: vscode.l10n.t('The models could not be listed…'),
      iconPath: new vscode.ThemeIcon('warning'),
      detail: failure.message,
      id: 'refused',
      run: () => offerNextStep(deps, baseUrl, failure),
    },
  ];
}

function separator(label: string): Choice {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
