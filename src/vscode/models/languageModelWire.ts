// Maps requests to the API of VS Code's models, which has only user and assistant messages.
import * as vscode from 'vscode';
import { type ImageReference } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type Arrangement, arrange, type WireCall, type WireMessage } from '../../models/chat/chatMessages.ts';

/** The system prompt is the first user message; the results of one batch are the parts of one user message. */
export async function toChatMessages(
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
  return new vscode.LanguageModelToolCallPart(id, name, asObject(text));
}

/** A call with invalid JSON must not block the conversation forever. */
function asObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Passed on as `invalid_json` below.
  }
  return { invalid_json: text };
}

export function toChatTools({ tools, found = [] }: ModelRequest): vscode.LanguageModelChatTool[] {
  return [...tools, ...found].map(({ name, description, parameters }) => ({
    name,
    description,
    inputSchema: { ...parameters },
  }));
}
