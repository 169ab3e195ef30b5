// Prints a request and sends it.
import { type ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { type ImageReference, type ModelMessage } from '../../core/ports/modelMessages.ts';
import { type ModelRequest } from '../../core/ports/ports.ts';
import { type EndpointFacts } from '../endpointMemory.ts';
import { type EndpointOptions, post } from '../wire/client.ts';
import { type ChatForm, chatForm, type Images, shapeMessages, systemMessage, toWireTools } from './chatPrint.ts';
import { effortParameters } from './dialects.ts';

/** How many conversations' bytes are kept; the least recently used one is dropped first. */
const MOST_KEPT = 4;

const printers = new WeakMap<EndpointOptions, MessagePrinter>();

/** Throws the package's errors. */
export async function sendRequest(
  options: EndpointOptions,
  request: ModelRequest,
  facts: EndpointFacts,
  signal: AbortSignal,
): Promise<Response> {
  const printer = printers.get(options) ?? new MessagePrinter();
  printers.set(options, printer);
  const images = await loadImages(request);
  const body = printBody(options, request, facts, images, printer);
  return post(options, '/chat/completions', body, signal, sessionHeader(options, request));
}

/** Keeps the requests of a conversation on one server, whose cache has its beginning. */
function sessionHeader({ baseUrl, model }: EndpointOptions, { conversation }: ModelRequest): Record<string, string> {
  const { cache } = chatForm(baseUrl, model).dialect;
  return typeof cache === 'object' && conversation !== undefined ? { [cache.header]: conversation } : {};
}

/** Returns JSON in UTF-8. `printer` belongs to the model and reuses what earlier requests printed. */
export function printBody(
  { baseUrl, model, options = {} }: EndpointOptions,
  request: ModelRequest,
  { profile, without }: EndpointFacts,
  images: Images,
  printer: MessagePrinter,
): Buffer {
  const form = chatForm(baseUrl, model, profile);
  const tools = toWireTools(request);
  const takesImages = !without.includes('image_url');
  const messages = Buffer.concat(printer.print(request, form, takesImages ? images : undefined));
  const rest: Record<string, unknown> = {
    ...(tools.length > 0 && { tools, ...form.dialect.withTools, ...toolChoice(request, form) }),
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...effortParameters(form.dialect, request.effort ?? options.reasoningEffort),
    ...(options.maxTokens !== undefined && { [profile.limitField]: options.maxTokens }),
    ...(request.schema !== undefined && { response_format: jsonSchema(request.schema) }),
    ...cacheKey(request, form),
    stream: true,
    stream_options: { include_usage: true },
  };
  for (const parameter of without) delete rest[parameter];
  return Buffer.concat([
    Buffer.from(`{"model":${JSON.stringify(model)},"messages":[`),
    // Without the comma after the last message.
    messages.subarray(0, -1),
    Buffer.from(`],${JSON.stringify(rest).slice(1)}`),
  ]);
}

/** Calls that are not allowed are refused anyway; where possible, the model is also told so without changing the tools. */
function toolChoice({ allowed }: ModelRequest, { dialect }: ChatForm): { readonly tool_choice?: unknown } {
  if (allowed === 'none') return { tool_choice: 'none' };
  if (allowed === undefined || !dialect.allowedTools) return {};
  const tools = allowed.map((name) => ({ type: 'function', function: { name } }));
  return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } } };
}

/** OpenAI's limit of a key. */
const LONGEST_KEY = 64;

function cacheKey({ conversation }: ModelRequest, { dialect }: ChatForm): { readonly prompt_cache_key?: string } {
  return dialect.cache === 'key' && conversation !== undefined
    ? { prompt_cache_key: conversation.slice(0, LONGEST_KEY) }
    : {};
}

function jsonSchema(schema: Readonly<Record<string, unknown>>) {
  return { type: 'json_schema' as const, json_schema: { name: 'answer', schema: { ...schema } } };
}

/** Reads the images that the messages name, as data URLs. Images whose bytes are gone are left out. */
export async function loadImages({ messages, image }: ModelRequest): Promise<Images> {
  const images = new Map<string, string>();
  for (const message of messages) {
    for (const { hash, mediaType } of imagesOf(message)) {
      const bytes = images.has(hash) ? undefined : await image?.(hash);
      if (bytes !== undefined) images.set(hash, `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`);
    }
  }
  return images;
}

function imagesOf(message: ModelMessage): readonly ImageReference[] {
  if (message.role === 'assistant') return [];
  return [...(message.images ?? []), ...(message.role === 'tool' ? (message.resultImages ?? []) : [])];
}

/** The printed beginning of a conversation, with which every later request starts. */
interface Printed {
  readonly form: string;
  readonly messages: readonly ModelMessage[];
  /** Each message followed by a comma. */
  readonly bytes: Buffer;
}

/** Messages never change, so the same object is always printed the same. */
export class MessagePrinter {
  #kept: readonly Printed[] = [];

  /** The elements of a JSON array, each followed by a comma. */
  print(request: ModelRequest, form: ChatForm, images?: Images): Uint8Array[] {
    const marks = form.dialect.cache === 'parts';
    const system = printElements([systemMessage(request, form)], marks);
    const { messages } = request;
    const part = (from: number, to: number) =>
      printElements(
        shapeMessages(messages.slice(from, to), form, { images, isStart: from === 0 }),
        marks && to === messages.length,
      );
    // Messages with images are not kept: they are large, and printed differently once their bytes are gone.
    if (messages.some((message) => imagesOf(message).length > 0)) return [system, part(0, messages.length)];
    const key = JSON.stringify([form.provider, form.model, form.profile]);
    const known = this.#kept.find((one) => one.form === key && beginsWith(messages, one.messages));
    const from = known?.messages.length ?? 0;
    const to = Math.max(lastCycle(messages), from);
    const bytes = known === undefined ? part(from, to) : Buffer.concat([known.bytes, part(from, to)]);
    const others = this.#kept.filter((one) => one !== known);
    this.#kept = [{ form: key, messages: messages.slice(0, to), bytes }, ...others].slice(0, MOST_KEPT);
    return [system, bytes, part(to, messages.length)];
  }
}

/**
 * The index of the last cycle: an assistant message after a tool result. Nothing is merged across this point or
 * inserted there, so both sides can be printed separately.
 */
function lastCycle(messages: readonly ModelMessage[]): number {
  for (let index = messages.length - 1; index > 0; index -= 1) {
    if (messages[index]?.role === 'assistant' && messages[index - 1]?.role === 'tool') return index;
  }
  return 0;
}

/** `marked`: the endpoint caches everything up to the end of the last message. */
function printElements(messages: readonly ChatCompletionMessageParam[], marked: boolean): Buffer {
  const last = messages.length - 1;
  const printed = messages.map((message, index) => (marked && index === last ? withCacheMark(message) : message));
  return Buffer.from(printed.map((message) => `${JSON.stringify(message)},`).join(''));
}

function withCacheMark(message: ChatCompletionMessageParam): object {
  const { content } = message;
  if (!Array.isArray(content) || content.length === 0) return message;
  const marked = content.map((part, index) =>
    index === content.length - 1 ? { ...part, cache_control: { type: 'ephemeral' } } : part,
  );
  return { ...message, content: marked };
}

function beginsWith(messages: readonly ModelMessage[], start: readonly ModelMessage[]): boolean {
  // From the end: if the messages differ, they differ there first.
  for (let index = start.length - 1; index >= 0; index -= 1) if (messages[index] !== start[index]) return false;
  return true;
}
