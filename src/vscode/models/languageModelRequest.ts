// One request to a model of VS Code: sends it, maps its stream, and counts its usage with the model's own tokenizer.
import * as vscode from 'vscode';
import { aborted } from '../../base/async.ts';
import { defined } from '../../base/json/defined.ts';
import { type ModelPart, type ModelRequest } from '../../core/ports/ports.ts';
import { type Usage } from '../../protocol/event.ts';
import { parseObject } from '../../base/json/outsideJson.ts';
import { type ImageReference } from '../../core/ports/modelMessages.ts';
import { type Arrangement, arrange, type WireCall, type WireMessage } from '../../models/chat/chatMessages.ts';

const JUSTIFICATION = 'Earshot answers in its chat with the model that you chose.';

/** Throws what the model throws; ends once the signal is aborted, even if the model ignores the cancellation. */
export async function* requestParts(
  chat: vscode.LanguageModelChat,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const source = new vscode.CancellationTokenSource();
  const stopped = aborted(signal).then(() => 'aborted' as const);
  const cancel = () => source.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const messages = await toChatMessages(request, takesImages(chat));
    const tools = toChatTools(request);
    const options = { justification: JUSTIFICATION, ...(tools.length > 0 && { tools }) };
    const response = await Promise.race([chat.sendRequest(messages, options, source.token), stopped]);
    if (response === 'aborted') return;
    let answered = '';
    const stream = response.stream[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([stream.next(), stopped]);
      if (next === 'aborted') return;
      if (next.done === true) break;
      const part = toPart(next.value);
      if (part.type === 'text') answered += part.text;
      if (part.type === 'tool_call') answered += part.name + part.arguments;
      yield part;
    }
    const usage = await Promise.race([countUsage(chat, messages, tools, answered, source.token), stopped]);
    if (usage !== 'aborted') yield { type: 'finished', ...defined({ usage }) };
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

/** The system prompt is the first user message; the results of one batch are the parts of one user message. */
async function toChatMessages(
  { system, messages, image }: ModelRequest,
  takesImages: boolean,
): Promise<vscode.LanguageModelChatMessage[]> {
  const chat = [vscode.LanguageModelChatMessage.User(system)];
  /** Parts of the next user message: results first, then what the user wrote after them. */
  let parts: UserPart[] = [];
  const flush = () => {
    if (parts.length > 0) chat.push(vscode.LanguageModelChatMessage.User(parts));
    parts = [];
  };
  const shown = takesImages ? image : undefined;
  for (const [index, message] of arrange(messages, ARRANGEMENT).entries()) {
    if (message.role === 'assistant') {
      flush();
      chat.push(vscode.LanguageModelChatMessage.Assistant([...texts(message.parts), ...message.calls.map(toCall)]));
    } else if (message.role === 'tool') {
      parts.push(new vscode.LanguageModelToolResultPart(message.call, texts(message.parts)));
    } else {
      const isRequest = index === 0 || !parts.some((part) => part instanceof vscode.LanguageModelToolResultPart);
      if (isRequest) flush();
      parts.push(...texts(message.parts, isRequest), ...(await toPictures(message, shown)));
    }
  }
  flush();
  return chat;
}

type UserPart = vscode.LanguageModelToolResultPart | vscode.LanguageModelTextPart | vscode.LanguageModelDataPart;

/** There is no system message, and messages of the user are parts of the message that has the results. */
const ARRANGEMENT: Arrangement = {
  midSystem: false,
  midTools: false,
  userAfterTool: true,
  queuedInside: false,
  alternation: 'free',
  singleCalls: false,
};

function toPictures(message: WireMessage, image: ModelRequest['image']) {
  const images = message.role === 'user' ? (message.images ?? []) : [];
  return Promise.all(images.map((one) => toPicture(one, image)));
}

/** An image that cannot be sent is mentioned in text. */
async function toPicture(
  { hash, mediaType, name }: ImageReference,
  image: ModelRequest['image'],
): Promise<vscode.LanguageModelDataPart | vscode.LanguageModelTextPart> {
  const bytes = await image?.(hash);
  if (bytes !== undefined) return vscode.LanguageModelDataPart.image(bytes, mediaType);
  const why = image === undefined ? 'this model takes no images' : 'its bytes are gone';
  return new vscode.LanguageModelTextPart(`\n\n(The image ${name} is not shown: ${why}.)`);
}

/** Separates the parts by blank lines, since some models join them without a separator. */
function texts(parts: readonly string[], isFirst = true): vscode.LanguageModelTextPart[] {
  return parts.map((part, index) => new vscode.LanguageModelTextPart(isFirst && index === 0 ? part : `\n\n${part}`));
}

function toCall({ id, name, arguments: text }: WireCall): vscode.LanguageModelToolCallPart {
  // A call with invalid JSON must not block the conversation forever.
  return new vscode.LanguageModelToolCallPart(id, name, parseObject(text) ?? { invalid_json: text });
}

function toChatTools({ tools, found = [] }: ModelRequest): vscode.LanguageModelChatTool[] {
  return [...tools, ...found].map(({ name, description, parameters }) => ({
    name,
    description,
    inputSchema: { ...parameters },
  }));
}
