// One request to a model of VS Code: sends it, maps its stream, and counts its usage with the model's own tokenizer.
import * as vscode from 'vscode';
import { type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { type Usage } from '../../protocol/event.ts';
import { toChatMessages, toChatTools } from './languageModelWire.ts';

const JUSTIFICATION = 'Earshot answers in its chat with the model that you chose.';

/** Throws what the model throws; ends once the signal is aborted, even if the model ignores the cancellation. */
export async function* requestParts(
  chat: vscode.LanguageModelChat,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const source = new vscode.CancellationTokenSource();
  const aborted = new Promise<'aborted'>((resolve) => {
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    if (signal.aborted) resolve('aborted');
  });
  const cancel = () => source.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const messages = await toChatMessages(request, takesImages(chat));
    const tools = toChatTools(request);
    const options = { justification: JUSTIFICATION, ...(tools.length > 0 && { tools }) };
    const response = await Promise.race([chat.sendRequest(messages, options, source.token), aborted]);
    if (response === 'aborted') return;
    let answered = '';
    const stream = response.stream[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([stream.next(), aborted]);
      if (next === 'aborted') return;
      if (next.done === true) break;
      const part = toPart(next.value);
      if (part.type === 'text') answered += part.text;
      if (part.type === 'tool_call') answered += part.name + part.arguments;
      yield part;
    }
    const usage = await Promise.race([countUsage(chat, messages, tools, answered, source.token), aborted]);
    if (usage !== 'aborted') yield { type: 'finished', ...(usage !== undefined && { usage }) };
  } finally {
    signal.removeEventListener('abort', cancel);
    // Cancels the request if the reader has stopped early; this has no effect on a request that has ended.
    source.cancel();
    source.dispose();
  }
}

/** The API may not report this capability; then images are sent. */
function takesImages(chat: vscode.LanguageModelChat): boolean {
  const { capabilities } = chat as { readonly capabilities?: { readonly supportsImageToText?: unknown } };
  return capabilities?.supportsImageToText !== false;
}

function toPart(part: unknown): ModelPart {
  if (part instanceof vscode.LanguageModelTextPart) return { type: 'text', text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart) {
    return { type: 'tool_call', id: part.callId, name: part.name, arguments: JSON.stringify(part.input) };
  }
  // Reasoning and other parts that are not in the stable API.
  return { type: 'alive' };
}

/** Token counts by text, since most messages are sent again with each request. */
const counted = new WeakMap<vscode.LanguageModelChat, Map<string, number>>();
const MOST_REMEMBERED = 5000;

/** The API reports no usage, but the model can count tokens. Undefined if it cannot. */
async function countUsage(
  chat: vscode.LanguageModelChat,
  messages: readonly vscode.LanguageModelChatMessage[],
  tools: readonly vscode.LanguageModelChatTool[],
  answered: string,
  token: vscode.CancellationToken,
): Promise<Usage | undefined> {
  const known = counted.get(chat) ?? new Map<string, number>();
  counted.set(chat, known);
  const countOne = async (text: string, of: string | vscode.LanguageModelChatMessage): Promise<number> => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const tokens = await chat.countTokens(of, token);
    if (known.size >= MOST_REMEMBERED) known.clear();
    known.set(text, tokens);
    return tokens;
  };
  try {
    const offered = JSON.stringify(tools);
    const sent = await Promise.all([
      ...messages.map((message) => countOne(JSON.stringify(message), message)),
      ...(tools.length === 0 ? [] : [countOne(offered, offered)]),
    ]);
    const input = sent.reduce((sum, tokens) => sum + tokens, 0);
    const output = answered === '' ? 0 : await chat.countTokens(answered, token);
    return { input_tokens: Math.round(input), output_tokens: Math.round(output) };
  } catch {
    return undefined;
  }
}
