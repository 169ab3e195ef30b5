// The chat model of the test extension, for suites inside the extension host.
import * as assert from 'node:assert/strict';
import * as vscode from 'vscode';

interface TeaAnswer {
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: object }[];
  readonly fail?: { readonly code?: string; readonly message: string };
  readonly hang?: true;
  /** Waits for `release` after the text. */
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

/** A request in short form: for each message the role, then each part. */
interface TeaRequest {
  readonly messages: readonly (readonly string[])[];
  readonly options: { readonly tools: readonly string[] };
}

export interface TeaModel {
  /** Clears the script and the recorded requests. */
  script(...answers: readonly TeaAnswer[]): void;
  /** Sets the models to offer; without an argument, the default one. */
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
      assert.ok(request, 'no request was made');
      const { messages, options } = request;
      return {
        messages: messages.map(({ role, content }) => [ROLES[role], ...content.map(printPart)]),
        options: { tools: (options.tools ?? []).map(({ name }) => name) },
      };
    },
  };
}

const ROLES = {
  [vscode.LanguageModelChatMessageRole.User]: 'user',
  [vscode.LanguageModelChatMessageRole.Assistant]: 'assistant',
};

function printPart(part: unknown): string {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  if (part instanceof vscode.LanguageModelToolCallPart)
    return `${part.callId} ${part.name} ${JSON.stringify(part.input)}`;
  if (part instanceof vscode.LanguageModelToolResultPart)
    return `${part.callId} = ${part.content.map(printPart).join('|')}`;
  if (part instanceof vscode.LanguageModelDataPart) return `${part.mimeType} ${[...part.data].join()}`;
  return JSON.stringify(part);
}
