// The test extension's chat model, as suites inside the extension host use it.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';

interface TeaAnswer {
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: object }[];
  readonly fail?: { readonly code?: string; readonly message: string };
  readonly hang?: true;
  /** Waits for `release` between the text and what comes then. */
  readonly hold?: true;
}

interface Provider {
  readonly state: {
    script: TeaAnswer[];
    requests: { messages: vscode.LanguageModelChatRequestMessage[]; options: { tools?: { name: string }[] } }[];
    cancelled: number;
    held: (() => void)[];
  };
  offer(models?: readonly unknown[]): void;
}

/** A request in few words: the role, then each part. */
interface TeaRequest {
  readonly messages: readonly (readonly string[])[];
  readonly options: { readonly tools: readonly string[] };
}

export interface TeaModel {
  /** Forgets what was scripted and asked before. */
  script(...answers: readonly TeaAnswer[]): void;
  /** Without models: the usual one. */
  offer(models?: readonly unknown[]): void;
  release(): void;
  readonly requests: number;
  readonly cancelled: number;
  lastRequest(): TeaRequest;
}

export async function provideTea(): Promise<TeaModel> {
  const extension = vscode.extensions.getExtension<Provider>('earshot-test.tea-model');
  assert.ok(extension, 'the test extension is installed');
  const { state, offer } = await extension.activate();
  return {
    script: (...answers) => {
      state.script.splice(0, state.script.length, ...answers);
      state.requests.length = 0;
    },
    offer,
    release: () => state.held.shift()?.(),
    get requests() {
      return state.requests.length;
    },
    get cancelled() {
      return state.cancelled;
    },
    lastRequest: () => {
      const request = state.requests.at(-1);
      assert.ok(request, 'it was asked');
      const { messages, options } = request;
      return {
        messages: messages.map(({ role, content }) => [ROLES[role], ...content.map(print)]),
        options: { tools: (options.tools ?? []).map(({ name }) => name) },
      };
    },
  };
}

const ROLES = {
  [vscode.LanguageModelChatMessageRole.User]: 'user',
  [vscode.LanguageModelChatMessageRole.Assistant]: 'assistant',
};

function print(part: unknown): string {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  if (part instanceof vscode.LanguageModelToolCallPart)
    return `${part.callId} ${part.name} ${JSON.stringify(part.input)}`;
  if (part instanceof vscode.LanguageModelToolResultPart)
    return `${part.callId} = ${part.content.map(print).join('|')}`;
  if (part instanceof vscode.LanguageModelDataPart) return `${part.mimeType} ${[...part.data].join()}`;
  return JSON.stringify(part);
}
