// An extension that provides a chat model with scripted answers, to test Earshot with models of VS Code.
const vscode = require('vscode');

const TEA = {
  id: 'tea-1',
  name: 'Tea One',
  family: 'tea',
  version: '1',
  maxInputTokens: 31_000,
  maxOutputTokens: 1000,
  capabilities: { toolCalling: true, imageInput: true },
};

exports.activate = (context) => {
  const changed = new vscode.EventEmitter();
  const state = { models: [TEA], script: [], requests: [], cancelled: 0, counted: [], held: [] };
  const provider = {
    onDidChangeLanguageModelChatInformation: changed.event,
    provideLanguageModelChatInformation: async () => state.models,
    // One token per character, so that assertions can count tokens.
    provideTokenCount: async (_model, text) => {
      const plain = typeof text === 'string' ? text : JSON.stringify(text.content);
      state.counted.push(plain);
      return plain.length;
    },
    provideLanguageModelChatResponse: async (_model, messages, options, progress, token) => {
      state.requests.push({ messages, options });
      await answer(state, progress, token);
    },
  };
  context.subscriptions.push(changed, vscode.lm.registerLanguageModelChatProvider('teashop', provider));
  return {
    state,
    offer: (models) => {
      state.models = models ?? [TEA];
      changed.fire();
    },
  };
};

/** `{ text?: string[], calls?: [{ id, name, input }], fail?: { code?, message }, hang?: true, hold?: true }` */
async function answer(state, progress, token) {
  const {
    text = [],
    calls = [],
    fail,
    hang,
    hold,
  } = state.script.shift() ?? { fail: { message: 'nothing is scripted' } };
  for (const part of text) progress.report(new vscode.LanguageModelTextPart(part));
  if (hold === true) await new Promise((resolve) => state.held.push(resolve));
  for (const { id, name, input } of calls) progress.report(new vscode.LanguageModelToolCallPart(id, name, input));
  if (hang === true) {
    await new Promise((resolve) => token.onCancellationRequested(resolve));
    state.cancelled += 1;
  }
  if (fail?.code !== undefined) throw vscode.LanguageModelError[fail.code](fail.message);
  if (fail !== undefined) throw new Error(fail.message);
}
