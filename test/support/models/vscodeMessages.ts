// What a model of VS Code gets, outside of VS Code: plain classes stand for those of its API that messages consist of. The
// suite of VS Code runs the same mapping with the real ones.
import { registerHooks } from 'node:module';
import { type ModelRequest } from '../../../src/core/ports/ports.ts';

const STAND_IN = `
const part = (kind) => class { constructor(...values) { Object.assign(this, { kind, values }); } };
export const LanguageModelTextPart = part('text');
export const LanguageModelToolCallPart = part('call');
export const LanguageModelToolResultPart = part('result');
export const LanguageModelDataPart = { image: (...values) => ({ kind: 'image', values }) };
export const LanguageModelChatMessage = {
  User: (content) => ({ role: 'user', content }),
  Assistant: (content) => ({ role: 'assistant', content }),
};
export class CancellationTokenSource { token = {}; cancel() {} dispose() {} }
`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'vscode'
      ? { url: `data:text/javascript,${encodeURIComponent(STAND_IN)}`, shortCircuit: true }
      : next(specifier, context),
});
const { requestParts } = await import('../../../src/vscode/models/languageModelRequest.ts');

/** The parts of all messages, each with the role of its message. */
export async function vscodeParts(request: ModelRequest): Promise<string[]> {
  let sent: readonly { readonly role: string; readonly content: unknown }[] = [];
  const chat = {
    sendRequest: async (messages: typeof sent) => {
      sent = messages;
      return { stream: (async function* () {})() };
    },
    countTokens: async () => 1,
  } as unknown as Parameters<typeof requestParts>[0];
  await Array.fromAsync(requestParts(chat, request, new AbortController().signal));
  // Words that follow results are added to the message of the results, which nothing has answered yet.
  return sent.flatMap(({ role, content }) => [content].flat().map((part: unknown) => JSON.stringify([role, part])));
}
