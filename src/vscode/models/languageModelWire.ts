// Maps requests to the API of VS Code's models, which has only user and assistant messages.
import * as vscode from 'vscode';
import { type ImageReference } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { arrange, type WireCall, type WireMessage } from '../../models/chat/chatMessages.ts';

/** The system prompt is the first user message; the results of one batch are the parts of one user message. */
export async function toChatMessages(
  { system, messages, image }: ModelRequest,
  takesImages: boolean,
): Promise<vscode.LanguageModelChatMessage[]> {
  const chat = [vscode.LanguageModelChatMessage.User(system)];
  const results: vscode.LanguageModelToolResultPart[] = [];
  const flush = () => {
    if (results.length > 0) chat.push(vscode.LanguageModelChatMessage.User(results.splice(0)));
  };
  for (const message of arrange(messages, { midSystem: false })) {
    if (message.role === 'tool') {
      results.push(new vscode.LanguageModelToolResultPart(message.call, texts(message.parts)));
      continue;
    }
    flush();
    chat.push(await toChat(message, takesImages ? image : undefined));
  }
  flush();
  return chat;
}

async function toChat(
  message: Exclude<WireMessage, { role: 'tool' }>,
  image: ModelRequest['image'],
): Promise<vscode.LanguageModelChatMessage> {
  const parts = texts(message.parts);
  if (message.role === 'system') return vscode.LanguageModelChatMessage.User(parts);
  if (message.role === 'user') {
    const pictures = await Promise.all((message.images ?? []).map((one) => toPicture(one, image)));
    return vscode.LanguageModelChatMessage.User([...parts, ...pictures]);
  }
  return vscode.LanguageModelChatMessage.Assistant([...parts, ...message.calls.map(toCall)]);
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
function texts(parts: readonly string[]): vscode.LanguageModelTextPart[] {
  return parts.map((part, index) => new vscode.LanguageModelTextPart(index === 0 ? part : `\n\n${part}`));
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

export function toChatTools({ tools }: ModelRequest): vscode.LanguageModelChatTool[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, inputSchema: { ...parameters } }));
}
