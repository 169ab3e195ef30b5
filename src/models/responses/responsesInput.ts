// Maps messages to the input items of the Responses API. Pure.
import {
  type ResponseFunctionCallOutputItem,
  type ResponseInputContent,
  type ResponseInputImage,
  type ResponseInputItem,
  type Tool,
} from 'openai/resources/responses/responses';
import { type Block, type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ToolDescription } from '../../protocol/tool.ts';
import { argumentsOf, callId, callName, wellFormed } from '../wire/callIds.ts';
import { describeMissing, type ImageBytes } from '../wire/images.ts';

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;
type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;
type UserMessage = Extract<ModelMessage, { role: 'user' }>;

/** What an answer's items may contain besides the API's own: the configuration that it was requested with. */
export type ConfigurationUpdate = Extract<ResponseInputItem, { type: 'configuration_update' }>;

export interface InputContext {
  readonly provider: string;
  readonly model: string;
  /** Absent: the endpoint takes no images. */
  readonly images: ImageBytes | undefined;
  /** Descriptions of the tools that results have found; empty if the endpoint does not take them there. */
  readonly found: ReadonlyMap<string, ToolDescription>;
  /** Configuration changes are items; otherwise they are parameters of the request. */
  readonly updates: boolean;
  /** Answers whose reasoning the endpoint has refused. */
  readonly refused: WeakSet<ModelMessage>;
  /** The answer whose configuration is the request's own. */
  readonly configured: ModelMessage | undefined;
}

export function toInput(messages: readonly ModelMessage[], context: InputContext): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  /** What follows the outputs of a batch: nothing may stand between them. */
  let after: ResponseInputItem[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      items.push(toOutput(message, context));
      after.push(...afterOutput(message, context));
      continue;
    }
    items.push(...after, ...(message.role === 'user' ? toUser(message, context) : toAnswer(message, context)));
    after = [];
  }
  return [...items, ...after];
}

function toUser({ content, block, queued = [], images = [] }: UserMessage, context: InputContext): ResponseInputItem[] {
  const texts = [...(block === undefined || block.format === 'developer' ? [] : [block.text]), content, ...queued];
  const user = userItem(texts, images, context);
  return block?.format === 'developer' ? [developerItem(block), user] : [user];
}

function userItem(
  texts: readonly string[],
  images: readonly ImageReference[],
  { images: bytes }: InputContext,
): ResponseInputItem {
  const parts: ResponseInputContent[] = texts.filter((text) => text !== '').map(inputText);
  return { role: 'user', content: [...parts, ...images.map((image) => inputImage(image, bytes))] };
}

function developerItem({ text }: Block): ResponseInputItem {
  return { role: 'developer', content: [inputText(text)] };
}

function toOutput(
  { call, content, block, resultImages = [] }: ToolMessage,
  { images }: InputContext,
): ResponseInputItem.FunctionCallOutput {
  const text = wellFormed(content);
  const inside = block === undefined || block.format === 'developer' ? undefined : inputText(block.text);
  const parts: ResponseFunctionCallOutputItem[] = [
    ...(block?.format === 'markdown' && inside ? [inside] : []),
    ...(text === '' ? [] : [inputText(text)]),
    ...resultImages.map((image) => inputImage(image, images)),
    ...(block?.format !== 'markdown' && inside ? [inside] : []),
  ];
  const isPlain = resultImages.length === 0 && inside === undefined;
  return { type: 'function_call_output', call_id: callId(call), output: isPlain ? text : parts };
}

/** Found tools first, then notifications, then the user's words: what comes last is what the model answers. */
function afterOutput(
  { block, queued = [], images = [], found = [] }: ToolMessage,
  context: InputContext,
): ResponseInputItem[] {
  const tools = found.map((name) => context.found.get(name)).filter((tool) => tool !== undefined);
  return [
    ...(tools.length > 0
      ? [{ type: 'additional_tools' as const, role: 'developer' as const, tools: tools.map(toTool) }]
      : []),
    ...(block?.format === 'developer' ? [developerItem(block)] : []),
    ...(queued.length > 0 || images.length > 0 ? [userItem(queued, images, context)] : []),
  ];
}

export function toTool({ name, description, parameters }: ToolDescription): Tool {
  return { type: 'function', name, description, parameters: { ...parameters }, strict: false };
}

function toAnswer(message: AssistantMessage, context: InputContext): ResponseInputItem[] {
  const isOwn = message.origin?.provider === context.provider && message.origin.model === context.model;
  const update = context.updates && isOwn && message !== context.configured ? configurationOf(message) : undefined;
  return [...(update === undefined ? [] : [update]), ...(resent(message, context) ?? neutral(message))];
}

/** The configuration that the answer was requested with, if it differs from that of the answer before. */
export function configurationOf({ origin }: AssistantMessage): ConfigurationUpdate | undefined {
  const first = origin?.items[0] as { type?: unknown } | undefined;
  return first?.type === 'configuration_update' ? (first as ConfigurationUpdate) : undefined;
}

/** The answer as the API returned it. Undefined if it must be written anew. */
function resent(message: AssistantMessage, context: InputContext): ResponseInputItem[] | undefined {
  const { origin, calls } = message;
  if (origin?.api !== 'responses' || origin.provider !== context.provider) return undefined;
  const items = origin.items.filter(isItem).filter(({ type }) => type !== 'configuration_update');
  const made = items.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id);
  // Core gives a call a new id if the model has used it before.
  if (made.length !== calls.length || calls.some(({ id }, index) => id !== made[index])) return undefined;
  const keepsReasoning = origin.model === context.model && !context.refused.has(message);
  const kept = items.filter(
    (item, index) => item.type !== 'reasoning' || (keepsReasoning && isReadable(item) && isFollowed(items, index)),
  );
  return kept.length === 0 ? undefined : kept.map(withoutServerState);
}

interface LooseItem {
  readonly type: string;
  readonly call_id?: unknown;
  readonly encrypted_content?: unknown;
}

function isItem(item: unknown): item is LooseItem {
  return typeof item === 'object' && item !== null && 'type' in item && typeof item.type === 'string';
}

function isReadable({ encrypted_content: content }: LooseItem): boolean {
  return typeof content === 'string' && content !== '';
}

/** The API refuses reasoning that no message or call follows. */
function isFollowed(items: readonly LooseItem[], index: number): boolean {
  return items.slice(index + 1).some(({ type }) => type !== 'reasoning');
}

/** Nothing is stored on the server, so it knows no ids of items. Outputs name calls by ids that every server accepts. */
function withoutServerState(item: LooseItem): ResponseInputItem {
  const { id: _id, status: _status, ...rest } = item as LooseItem & { id?: unknown; status?: unknown };
  const named = item.type === 'function_call' ? { ...rest, call_id: callId(String(item.call_id)) } : rest;
  return named as unknown as ResponseInputItem;
}

function neutral({ content, calls }: AssistantMessage): ResponseInputItem[] {
  const text = wellFormed(content);
  const said = { type: 'output_text', text, annotations: [] } as const;
  return [
    // The type requires an id and a status, which the API does not.
    ...(text === '' ? [] : [{ type: 'message', role: 'assistant', content: [said] } as unknown as ResponseInputItem]),
    ...calls.map(({ id, name, arguments: args }) => ({
      type: 'function_call' as const,
      call_id: callId(id),
      name: callName(name),
      arguments: argumentsOf(args) === undefined ? JSON.stringify({ INVALID_JSON: args }) : args || '{}',
    })),
  ];
}

function inputText(text: string) {
  return { type: 'input_text' as const, text: wellFormed(text) };
}

function inputImage(image: ImageReference, images: ImageBytes | undefined) {
  const bytes = images?.get(image.hash);
  if (bytes === undefined) return inputText(describeMissing(image, images));
  const url = `data:${image.mediaType};base64,${bytes}`;
  return { type: 'input_image', image_url: url, detail: 'auto' } as const satisfies ResponseInputImage;
}
