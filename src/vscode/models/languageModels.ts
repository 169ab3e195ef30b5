// VS Code's own models behind the Model port: lists them, checks access, and sends requests.
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable.ts';
import { Emitter } from '../../base/emitter.ts';
import { defined } from '../../base/json/defined.ts';
import { type Prices } from '../../core/ports/modelMessages.ts';
import { type Model, type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';

/** Marks a model of VS Code in the setting `earshot.model`: `vscode:vendor/id`. */
export const LANGUAGE_MODEL_PREFIX = 'vscode:';

/** In tokens; used until the model has reported its own. */
const CONTEXT_WINDOW = 32_000;

export interface LanguageModelOptions {
  readonly contextWindow?: number | undefined;
  readonly prices?: Prices | undefined;
}

export class LanguageModels implements Disposable {
  readonly #access: vscode.LanguageModelAccessInformation;
  readonly #report: (error: unknown) => void;
  readonly #held = new DisposableStore();
  readonly #onDidChange: Emitter<void>;
  /** The models in use, as last found; finding one is slow, so the start does not wait for it. */
  readonly #known = new Map<string, vscode.LanguageModelChat | undefined>();

  constructor(access: vscode.LanguageModelAccessInformation, report: (error: unknown) => void) {
    this.#access = access;
    this.#report = report;
    this.#onDidChange = this.#held.add(new Emitter(report));
    this.#held.add(vscode.lm.onDidChangeChatModels(() => this.#findAll()));
    this.#held.add(access.onDidChange(() => this.#onDidChange.fire()));
  }

  /** Fires when a model in use appears, disappears, or becomes accessible. */
  get onDidChange(): Emitter<void>['event'] {
    return this.#onDidChange.event;
  }

  async list(): Promise<readonly vscode.LanguageModelChat[]> {
    return vscode.lm.selectChatModels();
  }

  /** `name` as in the setting. */
  model(name: string, options: LanguageModelOptions = {}): Model {
    const known = () => this.#known.get(name);
    if (!this.#known.has(name)) this.#findFirst(name);
    return {
      id: name,
      get label() {
        return known()?.name ?? name.slice(LANGUAGE_MODEL_PREFIX.length);
      },
      get detail() {
        const chat = known();
        return chat === undefined ? 'VS Code' : `VS Code, ${chat.vendor}`;
      },
      get contextWindow() {
        return options.contextWindow ?? known()?.maxInputTokens ?? CONTEXT_WINDOW;
      },
      ...defined({ prices: options.prices }),
      // VS Code asks for consent in a dialog, which only an action of the user may open.
      mayRunUnasked: () => {
        const chat = known();
        return chat !== undefined && this.#access.canSendRequest(chat) === true;
      },
      stream: (request, signal) => this.#stream(name, request, signal),
    };
  }

  dispose(): void {
    this.#held.dispose();
  }

  async *#stream(name: string, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelPart> {
    const { requestParts } = await import('./languageModelRequest.ts');
    const { modelGone, explainLanguageModel } = await import('./languageModelFaults.ts');
    const label = name.slice(LANGUAGE_MODEL_PREFIX.length);
    let characters = 0;
    try {
      const chat = await this.#find(name);
      if (signal.aborted) return;
      if (chat === undefined) {
        yield modelGone(label);
        return;
      }
      for await (const part of requestParts(chat, request, signal)) {
        if (part.type === 'text') characters += part.text.length;
        yield part;
      }
    } catch (error) {
      if (!signal.aborted) yield explainLanguageModel(error, this.#known.get(name)?.name ?? label, characters);
    }
  }

  async #find(name: string): Promise<vscode.LanguageModelChat | undefined> {
    const [vendor, id] = split(name);
    const found = await vscode.lm.selectChatModels({ vendor, id });
    const chat = found[0];
    const before = this.#known.get(name);
    this.#known.set(name, chat);
    if (chat?.name !== before?.name || chat?.maxInputTokens !== before?.maxInputTokens) this.#onDidChange.fire();
    return chat;
  }

  #findFirst(name: string): void {
    this.#known.set(name, undefined);
    void this.#find(name).catch(this.#report);
  }

  #findAll(): void {
    for (const name of this.#known.keys()) void this.#find(name).catch(this.#report);
  }
}

export function languageModelName({ vendor, id }: vscode.LanguageModelChat): string {
  return `${LANGUAGE_MODEL_PREFIX}${vendor}/${id}`;
}

/** An id may have slashes of its own. */
function split(name: string): [string, string] {
  const rest = name.slice(LANGUAGE_MODEL_PREFIX.length);
  const slash = rest.indexOf('/');
  return slash === -1 ? [rest, ''] : [rest.slice(0, slash), rest.slice(slash + 1)];
}
